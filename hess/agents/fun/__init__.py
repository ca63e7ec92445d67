"""FeUdal Networks (Vezhnevets et al. 2017), the baseline `fun`."""
