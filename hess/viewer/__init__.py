"""`hess view`: a local web page to follow training and to scrub through it afterwards."""
