#include "reports/report_pace.h"

#define PACE_NS (REPORT_PACE_MS * INT64_C(1000000))

size_t
report_weight(size_t bytes)
{
	return 1 + bytes / REPORT_WEIGHT_BYTES;
}

void
report_pace_took(struct report_pace *p, size_t weight, int64_t ns)
{
	size_t next = 2 * p->weight;

	/* How fast a short write is says nothing about a long one. */
	if (weight < p->weight && ns <= PACE_NS)
		return;
	if (ns > 0 && (double)weight * PACE_NS / (double)ns < (double)next)
		next = (size_t)((double)weight * PACE_NS / (double)ns);
	if (next < REPORT_PACE_MIN)
		next = REPORT_PACE_MIN;
	p->weight = next < REPORT_PACE_MAX ? next : REPORT_PACE_MAX;
}
