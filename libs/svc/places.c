/*
 * Given back on the worker's thread, taken on the loop: a lock is between them.
 */
#include "svc/places.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "core/map.h"
#include "core/mem.h"
#include "httpd/client_address.h"
#include "svc/call.h"
#include "svc/internal.h"

/* Of the connections of a service the streams of all, and of one address. */
#define ALL_OF 3 / 4
#define ONE_OF 1 / 4

struct svc_places {
	const struct svc *s;
	size_t most, most_of_token, most_of_address; /* 0: no such limit */
	pthread_mutex_t lock;                        /* guards what follows */
	size_t n;
	struct tally *tokens, *addresses;
};

struct place {
	struct svc_places *of;
	uint64_t token;
	char address[CLIENT_ADDR_TEXT_MAX];
};

struct svc_places *
places_new(const struct svc *s)
{
	struct svc_places *p = mem_zalloc(sizeof(*p));
	size_t calls = svc_http_calls(s);

	p->s = s;
	p->most = calls * ALL_OF;
	if (s->guard != NULL) {
		p->most_of_token = (size_t)s->conf.streams_per_token;
		p->most_of_address = (size_t)s->conf.streams_per_address;
		if (p->most_of_address == 0)
			p->most_of_address = calls * ONE_OF;
	}
	pthread_mutex_init(&p->lock, NULL);
	p->tokens = tally_new();
	p->addresses = tally_new();
	return p;
}

void
places_free(struct svc_places *p)
{
	if (p == NULL)
		return;
	tally_free(p->tokens);
	tally_free(p->addresses);
	pthread_mutex_destroy(&p->lock);
	free(p);
}

static struct str
token_key(const struct place *one)
{
	return (struct str){ (const char *)&one->token, sizeof(one->token) };
}

static void
give_back(void *arg)
{
	struct place *one = arg;
	struct svc_places *p = one->of;

	pthread_mutex_lock(&p->lock);
	p->n--;
	tally_decrement(p->tokens, token_key(one));
	tally_decrement(p->addresses, str_of(one->address));
	pthread_mutex_unlock(&p->lock);
	free(one);
}

static const struct svc_error all = { 503, "overloaded",
	"too many streams at once" };
static const struct svc_error of_token = { 429, "too_many_streams",
	"too many streams with this token at a time; end one of them first" };
static const struct svc_error of_address = { 429, "too_many_streams",
	"too many streams of this address at a time; end one of them first" };

/* NULL: it has its place. */
static const struct svc_error *
take(struct svc_places *p, const struct place *one)
{
	const struct svc_error *why = NULL;

	pthread_mutex_lock(&p->lock);
	if (p->n + 1 > p->most)
		why = &all;
	else if (p->most_of_token > 0 &&
	    tally_count(p->tokens, token_key(one)) >= p->most_of_token)
		why = &of_token;
	else if (p->most_of_address > 0 &&
	    tally_count(p->addresses, str_of(one->address)) >=
		p->most_of_address)
		why = &of_address;
	if (why == NULL) {
		p->n++;
		tally_increment(p->tokens, token_key(one));
		tally_increment(p->addresses, str_of(one->address));
	}
	pthread_mutex_unlock(&p->lock);
	return why;
}

bool
svc_stream_admit(struct svc_call *c)
{
	struct svc_places *p = c->lane->svc->places;
	struct place *one = mem_zalloc(sizeof(*one));
	const struct svc_error *why;

	one->of = p;
	one->token = c->known ? c->caller.key : 0;
	str_copy(svc_call_address(c), one->address, sizeof(one->address));
	why = take(p, one);
	if (why != NULL) {
		free(one);
		svc_fail_as(c, why);
		return false;
	}
	httpd_on_end(c->http, give_back, one);
	return true;
}
