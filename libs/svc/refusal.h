/*
 * refusal: what is told, counted and logged of requests that the guard turns
 * away.  Private to svc.
 *
 * Whoever asks in vain again and again fills no log and no stream: one a second
 * for each address, ten for all; each says how many were left out since.
 */
#ifndef SVC_REFUSAL_H
#define SVC_REFUSAL_H

struct metric_set;
struct svc_call;
struct svc_refusals;

enum refusal_reason {
	REFUSAL_NO_TOKEN,
	REFUSAL_HEADER,
	REFUSAL_TOKEN,
	REFUSAL_RATE,
	REFUSAL_ROLE,
	REFUSAL_USER,
	REFUSAL_TERMINAL,
	REFUSAL_N
};

struct refusal {
	enum refusal_reason reason;
	int status;
	const char *code;
	const char *text;      /* for the caller; without the token */
	const char *challenge; /* httpd_challenge(); NULL: none */
};

/* refusals_new(m), refusals_free(r): NULL is allowed. */
struct svc_refusals *refusals_new(struct metric_set *m);
void refusals_free(struct svc_refusals *r);

/* refuse(r, c, why): Count it, log it, tell it (audit), answer and end c. */
void refuse(
    struct svc_refusals *r, struct svc_call *c, const struct refusal *why);

#endif /* !SVC_REFUSAL_H */
