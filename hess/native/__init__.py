"""Matrix products of our own for networks on the CPU; compiled once per machine."""
