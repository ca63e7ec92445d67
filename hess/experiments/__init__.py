"""Many runs, and what they showed."""
