#include "testkit/scripted_http.h"

#include "testkit/raw_server.h"

#define LOG_MAX 512

static struct raw_server server;
static const struct scripted_http_rule *rules;
static size_t n_rules;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static char *requests[LOG_MAX];
static size_t n_requests;

static const struct scripted_http_rule *
scripted_find(const char *request)
{
	const struct scripted_http_rule *found = NULL;
	size_t i;

	pthread_mutex_lock(&lock);
	for (i = 0; i < n_rules && found == NULL; i++)
		if (strstr(request, rules[i].match) != NULL)
			found = &rules[i];
	pthread_mutex_unlock(&lock);
	return found;
}

static void
scripted_serve(struct raw_server *p, int fd)
{
	struct buf in = BUF_INIT(16UL * 1024 * 1024);
	const struct scripted_http_rule *r;

	while (raw_server_read(fd, &in)) {
		pthread_mutex_lock(&lock);
		if (n_requests < LOG_MAX)
			requests[n_requests++] = mem_strdup(in.p);
		pthread_mutex_unlock(&lock);
		r = scripted_find(in.p);
		if (r == NULL || r->response == NULL ||
		    !raw_server_write(fd, r->response))
			break;
		if (r->hold)
			raw_server_hold(p, fd);
		if (r->hold || strstr(r->response, "Connection: close") != NULL)
			break;
	}
	shutdown(fd, SHUT_RDWR);
	buf_free(&in);
}

int
scripted_http_open(const struct scripted_http_rule *list, size_t n)
{
	rules = list;
	n_rules = n;
	n_requests = 0;
	raw_server_open(&server, scripted_serve);
	return server.port;
}

void
scripted_http_close(void)
{
	raw_server_close(&server);
	while (n_requests > 0)
		free(requests[--n_requests]);
}

void
scripted_http_switch(const struct scripted_http_rule *list, size_t n)
{
	pthread_mutex_lock(&lock);
	rules = list;
	n_rules = n;
	pthread_mutex_unlock(&lock);
}

const char *
scripted_http_request(const char *text, size_t want)
{
	const char *found = NULL;
	size_t i;

	pthread_mutex_lock(&lock);
	for (i = 0; i < n_requests && found == NULL; i++)
		if (strstr(requests[i], text) != NULL && want-- == 0)
			found = requests[i];
	pthread_mutex_unlock(&lock);
	return found;
}

size_t
scripted_http_count(const char *text)
{
	size_t i, n = 0;

	pthread_mutex_lock(&lock);
	for (i = 0; i < n_requests; i++)
		n += strstr(requests[i], text) != NULL;
	pthread_mutex_unlock(&lock);
	return n;
}

bool
scripted_http_count_is(void *arg)
{
	const struct scripted_http_want *want = arg;

	return scripted_http_count(want->text) >= want->n;
}

size_t
scripted_http_connections(void)
{
	return server.accepted;
}
