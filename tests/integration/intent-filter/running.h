/*
 * running: an intent-filter process and plain clients of its two faces.
 */
#ifndef RUNNING_H
#define RUNNING_H

#include <curl/curl.h>
#include <nats/nats.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/mem.h"
#include "testkit/service.h"
#include "unit/intent-filter/filter_case.h"

struct running {
	struct tk_service s;
	const char *redis; /* URL; NULL: none */
};

struct answer {
	long status;
	char *body; /* freed by answer_free() */
	size_t n;
};

static inline size_t
on_body(char *p, size_t size, size_t n, void *arg)
{
	struct answer *a = arg;

	a->body = mem_realloc(a->body, a->n + n + 1);
	memcpy(a->body + a->n, p, n);
	a->n += n;
	a->body[a->n] = '\0';
	return size * n;
}

/* body NULL: GET.  Status 0 if there was no answer. */
static inline struct answer
http(int port, const char *path, const char *body)
{
	struct answer a = { 0, mem_zalloc(1), 0 };
	struct curl_slist *h =
	    curl_slist_append(NULL, "Content-Type: application/json");
	CURL *c = curl_easy_init();
	char url[128];

	snprintf(url, sizeof(url), "http://127.0.0.1:%d%s", port, path);
	curl_easy_setopt(c, CURLOPT_URL, url);
	curl_easy_setopt(c, CURLOPT_WRITEFUNCTION, on_body);
	curl_easy_setopt(c, CURLOPT_WRITEDATA, &a);
	curl_easy_setopt(c, CURLOPT_TIMEOUT_MS, 10000L);
	curl_easy_setopt(c, CURLOPT_NOSIGNAL, 1L);
	if (body != NULL) {
		curl_easy_setopt(c, CURLOPT_HTTPHEADER, h);
		curl_easy_setopt(c, CURLOPT_POSTFIELDS, body);
	}
	if (curl_easy_perform(c) == CURLE_OK)
		curl_easy_getinfo(c, CURLINFO_RESPONSE_CODE, &a.status);
	curl_easy_cleanup(c);
	curl_slist_free_all(h);
	return a;
}

static inline void
answer_free(struct answer *a)
{
	free(a->body);
	a->body = NULL;
}

static inline bool
status_is(int port, const char *path, long status)
{
	struct answer a = http(port, path, NULL);
	bool is = a.status == status;

	answer_free(&a);
	return is;
}

static inline void
running_spawn(struct running *r, const char *name, const char *nats_url)
{
	struct tk_env e = { 0 };

	tk_env_put(&e, "NATS_URL=%s", nats_url);
	tk_env_put(&e, "REDIS_URL=%s", r->redis != NULL ? r->redis : "");
	tk_service_spawn(&r->s, "intent-filter", name, &e);
}

static inline void
running_start(struct running *r, const char *name, const char *nats_url)
{
	running_spawn(r, name, nats_url);
	tk_service_wait(&r->s);
}

/* A plain client connection; NULL if the server is away. */
static inline natsConnection *
nats_client(const char *url)
{
	natsConnection *nc = NULL;

	if (natsConnection_ConnectTo(&nc, url) != NATS_OK)
		return NULL;
	return nc;
}

/* The protocol's sample request; first called before threads are made. */
static inline const char *
protocol(void)
{
	static char text[8192];

	if (text[0] == '\0') {
		char *file = case_protocol();

		snprintf(text, sizeof(text), "%s", file);
		free(file);
	}
	return text;
}

#define FILTER_SUBJECT "soul.rpc.intent.filter"

#endif /* !RUNNING_H */
