/*
 * target: where spans are sent, read from what OpenTelemetry's variables hold.
 * Private, pure.
 */
#ifndef OTLP_TARGET_H
#define OTLP_TARGET_H

#include <stddef.h>

#include "core/rc.h"
#include "otlp/otlp.h"

#define OTLP_HEADERS_MAX 16

/* "Name: value" lines; zeroed before the first use. */
struct otlp_headers {
	char *line[OTLP_HEADERS_MAX];
	size_t n;
};

/*
 * otlp_target_url(conf, url, why):
 * The URL, freed with free(): traces_endpoint as it is, or endpoint with
 * "/v1/traces" after it; NULL if both are empty.  RC_INVALID as otlp_new().
 */
enum rc otlp_target_url(
    const struct otlp_conf *conf, char **url, const char **why) RC_CHECK;

/*
 * otlp_target_headers(text, h, why):
 * The headers in "name=value,name=value", blanks around each left out, values
 * percent-decoded.  RC_INVALID as otlp_new(), also for an empty value.  Free h
 * in either case.
 */
enum rc otlp_target_headers(
    const char *text, struct otlp_headers *h, const char **why) RC_CHECK;
void otlp_headers_free(struct otlp_headers *h);

#endif /* !OTLP_TARGET_H */
