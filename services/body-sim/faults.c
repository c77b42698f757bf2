/*
 * Faults as text.
 */
#include "faults.h"

#include <math.h>
#include <stdio.h>

/* A day, in ms. */
#define TIME_MAX_MS 86400000.0

static enum rc
parse_time(struct str value, double unit_ms, int64_t *out)
{
	double n;

	if (str_to_f64(value, 1 / unit_ms, TIME_MAX_MS / unit_ms, &n) != RC_OK)
		return RC_INVALID;
	*out = (int64_t)llround(n * unit_ms);
	return RC_OK;
}

static enum rc
parse_one(struct str word, struct faults *f)
{
	struct str value = word;
	struct str name = str_split(&value, '=');

	if (value.p == NULL) {
		if (str_eq(name, STR("silent")))
			f->silent = true;
		else if (str_eq(name, STR("error")))
			f->error = true;
		else if (str_eq(name, STR("wrong-request-id")))
			f->wrong_request_id = true;
		else
			return RC_INVALID;
		return RC_OK;
	}
	if (str_eq(name, STR("late")))
		return parse_time(value, 1, &f->late_ms);
	if (str_eq(name, STR("drop")))
		return parse_time(value, 1000, &f->drop_ms);
	if (str_eq(name, STR("flap")))
		return parse_time(value, 1000, &f->flap_ms);
	return RC_INVALID;
}

enum rc
faults_parse(struct str text, struct faults *out, char *why, size_t why_size)
{
	struct str rest = text, word;

	*out = (struct faults){ 0 };
	if (text.n == 0)
		return RC_OK;
	while (rest.p != NULL) {
		word = str_trim(str_split(&rest, ','));
		if (parse_one(word, out) == RC_OK)
			continue;
		snprintf(why, why_size,
		    "\"%.*s\" is none of silent, error, wrong-request-id, "
		    "late=<ms>, drop=<seconds>, flap=<seconds>",
		    STR_ARG(word));
		return RC_INVALID;
	}
	return RC_OK;
}

bool
faults_hit(double share, size_t i)
{
	/* So that 100 times 0.29 is 29. */
	const double eps = 1e-9;

	return floor((double)(i + 1) * share + eps) >
	    floor((double)i * share + eps);
}
