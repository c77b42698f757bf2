#include "testkit/mcp-sim/sim_http.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/socket.h>
#include <unistd.h>

#include "testkit/mcp-sim/sim.h"

#define CONNECTIONS_MAX 64
#define REQUEST_MAX     (4 * 1024 * 1024)
#define SESSION         "sim-session"

/* A connection, which has one request. */
struct sim_connection {
	int fd; /* -1: it is free */
	char *text;
	size_t n;
	json_t *id;  /* of a request that has no response yet */
	bool begun;  /* its response's head was sent */
	bool stream; /* the GET, for what belongs to no request */
};

static struct sim_connection sim_connections[CONNECTIONS_MAX];
static struct sim_connection *sim_current; /* whose request is handled */
static struct sim *sim_served;

/* ---- switches ---- */

static long sim_port;
static bool sim_is_sse, sim_is_json, sim_has_session;
static const char *sim_lost_file; /* while it exists, no session is known */
static const char *sim_redirect;
static const char *sim_header_log;

bool
sim_http_option(const char *text)
{
	if (strncmp(text, "http=", 5) == 0)
		sim_port = strtol(text + 5, NULL, 10);
	else if (strncmp(text, "redirect=", 9) == 0)
		sim_redirect = text + 9;
	else if (strncmp(text, "lost=", 5) == 0)
		sim_lost_file = text + 5;
	else if (strncmp(text, "headers=", 8) == 0)
		sim_header_log = text + 8;
	else if (strcmp(text, "sse") == 0)
		sim_is_sse = true;
	else if (strcmp(text, "json") == 0)
		sim_is_json = true;
	else if (strcmp(text, "session") == 0)
		sim_has_session = true;
	else
		return false;
	return true;
}

bool
sim_http_wanted(void)
{
	return sim_port != 0;
}

/* ---- responses ---- */

static void
sim_write(int fd, const char *text, size_t n)
{
	ssize_t done;

	for (; n > 0; text += done, n -= (size_t)done) {
		done = send(fd, text, n, MSG_NOSIGNAL);
		if (done <= 0)
			return;
	}
}

static void
sim_put(struct sim_connection *c, const char *text)
{
	sim_write(c->fd, text, strlen(text));
}

static void
sim_close(struct sim_connection *c)
{
	close(c->fd);
	free(c->text);
	json_decref(c->id);
	*c = (struct sim_connection){ .fd = -1 };
}

static void
sim_begin(struct sim_connection *c)
{
	if (c->begun)
		return;
	c->begun = true;
	sim_put(c, "HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Type: ");
	sim_put(c,
	    sim_is_json && !c->stream ? "application/json"
				      : "text/event-stream");
	if (sim_has_session)
		sim_put(c, "\r\nMcp-Session-Id: " SESSION);
	sim_put(c, "\r\n\r\n");
	/* As the reference server does. */
	if (!sim_is_json && !c->stream)
		sim_put(c, "id: 0\ndata: \n\n");
}

static void
sim_status(struct sim_connection *c, const char *status, const char *more)
{
	char head[512];

	snprintf(head, sizeof(head),
	    "HTTP/1.1 %s\r\nConnection: close\r\n%sContent-Length: 0\r\n\r\n",
	    status, more);
	sim_put(c, head);
	sim_close(c);
}

/* Where a message belongs: its request, or the stream. */
static struct sim_connection *
sim_find(const json_t *m)
{
	const json_t *id = json_object_get(m, "id");
	const json_t *token =
	    json_object_get(json_object_get(m, "params"), "progressToken");
	struct sim_connection *c, *stream = NULL;
	size_t i;

	if (json_object_get(m, "method") != NULL)
		id = token;
	for (i = 0; i < CONNECTIONS_MAX; i++) {
		c = &sim_connections[i];
		if (c->fd == -1)
			continue;
		if (c->stream)
			stream = c;
		else if (!sim_is_sse && id != NULL && c->id != NULL &&
		    json_equal(id, c->id))
			return c;
	}
	return sim_is_sse || sim_current == NULL || sim_current->fd == -1
	    ? stream
	    : sim_current;
}

static void
sim_http_send(void *arg, json_t *m)
{
	struct sim_connection *c = sim_find(m);
	char *text = json_dumps(m, JSON_COMPACT);

	(void)arg;
	/* One message is all that such a response has. */
	if (sim_is_json && c != NULL && !c->stream &&
	    json_object_get(m, "method") != NULL)
		c = NULL;
	if (c != NULL) {
		sim_begin(c);
		if (c->stream || !sim_is_json)
			sim_put(c, "event: message\ndata: ");
		sim_put(c, text);
		if (c->stream || !sim_is_json)
			sim_put(c, "\n\n");
		/* Its response ends a request's stream. */
		if (!c->stream && c->id != NULL &&
		    json_object_get(m, "method") == NULL &&
		    json_equal(json_object_get(m, "id"), c->id))
			sim_close(c);
	}
	free(text);
}

/* ---- requests ---- */

static void
sim_log_headers(const char *head)
{
	FILE *f = sim_header_log != NULL ? fopen(sim_header_log, "a") : NULL;

	if (f == NULL)
		return;
	fputs(head, f);
	fclose(f);
}

static void
sim_on_get(struct sim_connection *c)
{
	c->stream = true;
	sim_begin(c);
	if (sim_is_sse)
		sim_put(c, "event: endpoint\ndata: /post\n\n");
}

static void
sim_on_post(struct sim_connection *c, const char *body)
{
	json_t *m = json_loads(body, 0, NULL);

	if (m == NULL) {
		sim_status(c, "400 Bad Request", "");
		return;
	}
	sim_current = c;
	if (json_object_get(m, "method") != NULL && !sim_is_sse)
		c->id = json_incref(json_object_get(m, "id"));
	if (c->id == NULL)
		sim_put(c,
		    "HTTP/1.1 202 Accepted\r\nConnection: close\r\n"
		    "Content-Length: 0\r\n\r\n");
	if (c->id == NULL)
		sim_close(c);
	sim_on_message(sim_served, m);
	sim_current = NULL;
	json_decref(m);
}

static void
sim_on_request(struct sim_connection *c, const char *body)
{
	bool lost = sim_lost_file != NULL && access(sim_lost_file, F_OK) == 0;
	char location[512];

	sim_log_headers(c->text);
	if (sim_redirect != NULL) {
		snprintf(location, sizeof(location), "Location: %s\r\n",
		    sim_redirect);
		sim_status(c, "307 Temporary Redirect", location);
	} else if (sim_has_session && strstr(body, "\"initialize\"") == NULL &&
	    (lost || strcasestr(c->text, "mcp-session-id: " SESSION) == NULL) &&
	    strstr(body, "server/discover") == NULL) {
		if (lost && unlink(sim_lost_file) != 0)
			perror(sim_lost_file);
		sim_status(c, "400 Bad Request", "");
	} else if (strncmp(c->text, "GET ", 4) == 0) {
		sim_on_get(c);
	} else if (strncmp(c->text, "POST ", 5) == 0 &&
	    (!sim_is_sse || strncmp(c->text, "POST /post", 10) == 0)) {
		sim_on_post(c, body);
	} else {
		sim_status(c,
		    c->text[0] == 'D' ? "200 OK" : "405 Method Not Allowed",
		    "");
	}
}

/* Whether all of a request is there; its body then. */
static char *
sim_body(const struct sim_connection *c)
{
	char *end = strstr(c->text, "\r\n\r\n");
	const char *length;

	if (end == NULL)
		return NULL;
	length = strcasestr(c->text, "\r\ncontent-length:");
	if (length != NULL && length < end &&
	    c->n < (size_t)(end + 4 - c->text) + strtoul(length + 17, NULL, 10))
		return NULL;
	end[2] = '\0';
	return end + 4;
}

static void
sim_on_readable(struct sim_connection *c)
{
	char *body;
	ssize_t n;

	if (c->text == NULL)
		c->text = calloc(1, REQUEST_MAX);
	if (c->text == NULL)
		abort();
	n = read(c->fd, c->text + c->n, REQUEST_MAX - c->n - 1);
	if (n <= 0) {
		sim_close(c);
		return;
	}
	c->n += (size_t)n;
	/* Of one that was read, nothing more comes. */
	if (c->begun || c->id != NULL)
		return;
	body = sim_body(c);
	if (body != NULL)
		sim_on_request(c, body);
}

static void
sim_accept(int listener)
{
	int fd = accept(listener, NULL, NULL);
	size_t i;

	for (i = 0; fd != -1 && i < CONNECTIONS_MAX; i++)
		if (sim_connections[i].fd == -1) {
			sim_connections[i].fd = fd;
			return;
		}
	if (fd != -1)
		close(fd);
}

static int
sim_listen(void)
{
	struct sockaddr_in a = { .sin_family = AF_INET,
		.sin_port = htons((uint16_t)sim_port),
		.sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	int on = 1, fd = socket(AF_INET, SOCK_STREAM, 0);

	if (setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on)) != 0 ||
	    bind(fd, (struct sockaddr *)&a, sizeof(a)) != 0 ||
	    listen(fd, CONNECTIONS_MAX) != 0) {
		perror("mcp-sim: http");
		exit(1);
	}
	return fd;
}

void
sim_http_run(struct sim *s)
{
	struct pollfd p[CONNECTIONS_MAX + 1];
	int listener = sim_listen();
	size_t i;

	sim_served = s;
	s->send = sim_http_send;
	for (i = 0; i < CONNECTIONS_MAX; i++)
		sim_connections[i].fd = -1;
	for (;;) {
		for (i = 0; i < CONNECTIONS_MAX; i++)
			p[i] = (struct pollfd){ .fd = sim_connections[i].fd,
				.events = POLLIN };
		p[i] = (struct pollfd){ .fd = listener, .events = POLLIN };
		if (poll(p, CONNECTIONS_MAX + 1, sim_next_ms(s)) == -1 &&
		    errno != EINTR)
			exit(1);
		for (i = 0; i < CONNECTIONS_MAX; i++)
			if (p[i].fd != -1 && p[i].revents != 0)
				sim_on_readable(&sim_connections[i]);
		if (p[CONNECTIONS_MAX].revents != 0)
			sim_accept(listener);
		sim_on_time(s);
	}
}
