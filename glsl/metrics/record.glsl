// Metrics of all particles: a record of sums, minima, maxima and counts, and the merge of two such records.
//
// The including shader names the record (METRICS_RECORD) and lists its columns (METRICS_COLUMNS) as SUM,
// MINIMUM and MAXIMUM of float or vec3, and as COUNT, of uint, in this order and each with its name: the
// order gives merge_records.comp the kind of each word of any record.
//
// merge_records is associative up to rounding; kernels merge in an order fixed by the particle order alone,
// so that the same state gives the same bits with any subgroup size.
#ifndef METRICS_RECORD_GLSL
#define METRICS_RECORD_GLSL

const float HUGE = 3.0e38;

#define SUM(type, name) type name;
#define MINIMUM(type, name) type name;
#define MAXIMUM(type, name) type name;
#define COUNT(name) uint name;
struct METRICS_RECORD {
    METRICS_COLUMNS
};
#undef SUM
#undef MINIMUM
#undef MAXIMUM
#undef COUNT

#define SUM(type, name) record.name = type(0.0);
#define MINIMUM(type, name) record.name = type(HUGE);
#define MAXIMUM(type, name) record.name = type(-HUGE);
#define COUNT(name) record.name = 0u;
// Returns the record of no particles.
METRICS_RECORD empty_record() {
    METRICS_RECORD record;
    METRICS_COLUMNS
    return record;
}
#undef SUM
#undef MINIMUM
#undef MAXIMUM
#undef COUNT

#define SUM(type, name) a.name += b.name;
#define MINIMUM(type, name) a.name = min(a.name, b.name);
#define MAXIMUM(type, name) a.name = max(a.name, b.name);
#define COUNT(name) a.name += b.name;
METRICS_RECORD merged(METRICS_RECORD a, METRICS_RECORD b) {
    METRICS_COLUMNS
    return a;
}
#undef SUM
#undef MINIMUM
#undef MAXIMUM
#undef COUNT

#endif
