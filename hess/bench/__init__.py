"""What `hess bench` measures.

Every row compares two things measured in the same run, in turns, because machines are noisy and
differ; only ratios carry over from one to the next.
"""
