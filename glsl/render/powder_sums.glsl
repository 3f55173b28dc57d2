// Sums of optical depth are whole multiples of 1/QUANTA. Floats add them exactly, in any order, up to an
// optical depth of 4096.
const uint QUANTA = 4096u;
