// Wires the page together.
