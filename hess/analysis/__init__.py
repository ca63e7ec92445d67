"""Pictures and numbers from run folders."""
