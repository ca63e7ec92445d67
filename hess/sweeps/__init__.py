"""Many runs: planned, started where there is room, watched, and drawn."""
