/*
 * answer: what a collector's answer says became of a batch.  Private, pure.
 */
#ifndef OTLP_ANSWER_H
#define OTLP_ANSWER_H

#include <stddef.h>

#include "core/rc.h"
#include "core/str.h"

#define OTLP_ANSWER_TEXT_MAX 256

enum otlp_fate {
	OTLP_TAKEN,
	OTLP_RETRY,  /* the same may be sent again */
	OTLP_REFUSED /* it would be refused again */
};

struct otlp_answer {
	enum otlp_fate fate;
	size_t rejected; /* of OTLP_TAKEN: spans that were not */
	char text[OTLP_ANSWER_TEXT_MAX]; /* the collector's words; "": none */
};

/*
 * otlp_answer_read(rc, status, body, n, out):
 * The end of a request of n spans as httpc tells it.  A 2xx counts even if the
 * rest of the answer was lost or cannot be read.
 */
void otlp_answer_read(
    enum rc rc, int status, struct str body, size_t n, struct otlp_answer *out);

#endif /* !OTLP_ANSWER_H */
