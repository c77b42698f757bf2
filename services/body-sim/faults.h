/*
 * faults: the ways in which a simulated body misbehaves on purpose.  Pure.
 */
#ifndef BODY_SIM_FAULTS_H
#define BODY_SIM_FAULTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/rc.h"
#include "core/str.h"

struct faults {
	bool silent;           /* takes no notice of commands */
	bool error;            /* fails every skill */
	bool wrong_request_id; /* answers with another request's id */
	int64_t late_ms;       /* before each answer; 0: none */
	int64_t drop_ms;       /* loses the connection that often; 0: never */
	int64_t flap_ms;       /* goes off and on that often; 0: never */
};

/*
 * faults_parse(text, out, why, why_size):
 * "silent,error,wrong-request-id,late=7000,drop=30,flap=2.5": any of them, late
 * in ms, drop and flap in seconds; "" is none.  RC_INVALID otherwise; why then
 * says what is wrong.
 */
enum rc faults_parse(
    struct str text, struct faults *out, char *why, size_t why_size) RC_CHECK;

/*
 * faults_hit(share, i):
 * Whether body i (from 0) is one of the share in [0, 1] that has faults: the
 * same ones each time, spread evenly, of 1 all.
 */
bool faults_hit(double share, size_t i);

#endif /* !BODY_SIM_FAULTS_H */
