"""What is known of what claims take on trust: records of measurements, and where they are kept. Nothing here proves anything."""
