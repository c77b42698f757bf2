/*
 * resolve: the numbers of a host name, found in a worker.
 */
#include <arpa/inet.h>
#include <netdb.h>
#include <stdlib.h>
#include <sys/socket.h>

#include "core/mem.h"
#include "mqtt/mqtt_internal.h"

/* The worker's part works on copies, so that m may be freed meanwhile. */
struct resolving {
	struct mqtt *m; /* NULL: freed; the loop's */
	char host[URL_HOST_MAX];
	char addrs[ADDRS_MAX][ADDR_TEXT];
	int n;
	const char *why;
};

static void
on_worker(void *arg)
{
	struct resolving *job = arg;
	struct addrinfo hints = { .ai_family = AF_UNSPEC,
		.ai_socktype = SOCK_STREAM };
	struct addrinfo *list, *a;
	int err;

	err = getaddrinfo(job->host, NULL, &hints, &list);
	if (err != 0) {
		job->why = gai_strerror(err);
		return;
	}
	for (a = list; a != NULL && job->n < ADDRS_MAX; a = a->ai_next)
		if (getnameinfo(a->ai_addr, a->ai_addrlen, job->addrs[job->n],
			ADDR_TEXT, NULL, 0, NI_NUMERICHOST) == 0)
			job->n++;
	freeaddrinfo(list);
}

static void
on_done(void *arg)
{
	struct resolving *job = arg;
	struct mqtt *m = job->m;

	if (m != NULL) {
		m->job = NULL;
		memcpy(m->addrs, job->addrs, sizeof(m->addrs));
		m->n_addrs = job->n;
		m->next_addr = 0;
		str_copy(str_of(job->why), m->why, sizeof(m->why));
		resolved(m);
	}
	free(job);
}

bool
resolve_is_number(const char *host)
{
	struct in6_addr a;

	return inet_pton(AF_INET, host, &a) == 1 ||
	    inet_pton(AF_INET6, host, &a) == 1;
}

bool
resolve(struct mqtt *m)
{
	struct resolving *job;

	if (resolve_is_number(m->url.host)) {
		str_copy(str_of(m->url.host), m->addrs[0], ADDR_TEXT);
		m->n_addrs = 1;
		m->next_addr = 0;
		resolved(m);
		return true;
	}
	job = mem_zalloc(sizeof(*job));
	job->m = m;
	job->why = "the name has no address";
	str_copy(str_of(m->url.host), job->host, sizeof(job->host));
	if (worker_run(m->o.workers, on_worker, on_done, job) != RC_OK) {
		free(job);
		return false;
	}
	m->job = job;
	return true;
}

void
resolve_cancel(struct mqtt *m)
{
	if (m->job != NULL)
		m->job->m = NULL;
	m->job = NULL;
}
