"""Everything that reads or writes a run folder: one way to read each of its files."""
