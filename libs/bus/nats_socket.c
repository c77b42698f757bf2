/*
 * A socket to nats-server, with or without TLS; never blocks but while it is
 * opened.
 */
#include <errno.h>
#include <fcntl.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "bus/bus_internal.h"
#include "core/mem.h"
#include "core/url.h"
#include "tls/tls_client.h"

struct nats_socket {
	int fd;
	SSL *ssl; /* NULL: no TLS */
	char why[NATS_WHY_MAX];
};

static void
socket_set_errno(struct nats_socket *s)
{
	char text[NATS_WHY_MAX];

	str_copy(str_of(strerror_r(errno, text, sizeof(text))), s->why,
	    sizeof(s->why));
}

/* ---- waiting ---- */

bool
nats_socket_wait(const struct nats_socket *s, bool write, struct mono at)
{
	struct pollfd p = { s->fd, write ? POLLOUT : POLLIN, 0 };
	int64_t ms;
	int n;

	do {
		ms = mono_diff_ms(at, clock_mono());
		if (ms <= 0)
			return false;
		n = poll(&p, 1, (int)ms);
	} while (n == -1 && errno == EINTR);
	return n == 1;
}

/* ---- connecting ---- */

static bool
socket_connect_to(
    struct nats_socket *s, const struct addrinfo *a, struct mono at)
{
	int error = 0, one = 1;
	socklen_t n = sizeof(error);

	s->fd =
	    socket(a->ai_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	if (s->fd == -1) {
		socket_set_errno(s);
		return false;
	}
	/* An iteration's messages leave in one write, which shall not wait. */
	(void)setsockopt(s->fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one));
	if (connect(s->fd, a->ai_addr, a->ai_addrlen) == 0)
		return true;
	if (errno == EINPROGRESS && nats_socket_wait(s, true, at) &&
	    getsockopt(s->fd, SOL_SOCKET, SO_ERROR, &error, &n) == 0) {
		if (error == 0)
			return true;
		errno = error;
	} else if (errno == EINPROGRESS)
		errno = ETIMEDOUT;
	socket_set_errno(s);
	close(s->fd);
	s->fd = -1;
	return false;
}

struct nats_socket *
nats_socket_open(
    const char *host, int port, struct mono at, char why[NATS_WHY_MAX])
{
	struct addrinfo hints = { .ai_family = AF_UNSPEC,
		.ai_socktype = SOCK_STREAM };
	struct nats_socket *s = mem_zalloc(sizeof(*s));
	struct addrinfo *list = NULL, *a;
	char service[16];
	int error;

	s->fd = -1;
	(void)snprintf(service, sizeof(service), "%d", port);
	error = getaddrinfo(host, service, &hints, &list);
	if (error != 0)
		str_copy(str_of(gai_strerror(error)), s->why, sizeof(s->why));
	for (a = list; a != NULL; a = a->ai_next)
		if (socket_connect_to(s, a, at))
			break;
	if (list != NULL)
		freeaddrinfo(list);
	if (s->fd != -1)
		return s;
	str_copy(str_of(s->why), why, NATS_WHY_MAX);
	free(s);
	return NULL;
}

void
nats_socket_close(struct nats_socket *s)
{
	if (s == NULL)
		return;
	SSL_free(s->ssl);
	close(s->fd);
	free(s);
}

int
nats_socket_fd(const struct nats_socket *s)
{
	return s->fd;
}

const char *
nats_socket_error(const struct nats_socket *s)
{
	return s->why;
}

/* ---- TLS ---- */

/* What OpenSSL's last error means, in s->why. */
static void
socket_set_tls_error(struct nats_socket *s, const char *otherwise)
{
	long result = SSL_get_verify_result(s->ssl);
	const char *reason = ERR_reason_error_string(ERR_peek_error());

	if (result != X509_V_OK)
		reason = X509_verify_cert_error_string(result);
	str_copy(str_of(reason != NULL ? reason : otherwise), s->why,
	    sizeof(s->why));
	ERR_clear_error();
}

static bool
socket_shake_hands(struct nats_socket *s, struct mono at)
{
	int n, error;

	for (;;) {
		ERR_clear_error();
		n = SSL_connect(s->ssl);
		if (n == 1)
			return true;
		error = SSL_get_error(s->ssl, n);
		if (error != SSL_ERROR_WANT_READ &&
		    error != SSL_ERROR_WANT_WRITE) {
			socket_set_tls_error(s, "the TLS handshake failed");
			return false;
		}
		if (!nats_socket_wait(s, error == SSL_ERROR_WANT_WRITE, at)) {
			errno = ETIMEDOUT;
			socket_set_errno(s);
			return false;
		}
	}
}

bool
nats_socket_start_tls(struct nats_socket *s, const struct tls_files *f,
    const char *host, struct mono at)
{
	/* OpenSSL's macro casts a const away. */
	char *name = (char *)(uintptr_t)host;
	const char *why;
	SSL_CTX *ctx;

	why = tls_client_new(f, host, &ctx);
	if (why != NULL) {
		str_copy(str_of(why), s->why, sizeof(s->why));
		return false;
	}
	SSL_CTX_set_mode(ctx,
	    SSL_MODE_ENABLE_PARTIAL_WRITE |
		SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER);
	s->ssl = SSL_new(ctx);
	SSL_CTX_free(ctx);
	if (s->ssl == NULL || SSL_set_fd(s->ssl, s->fd) != 1 ||
	    (!url_is_address(host) &&
		SSL_set_tlsext_host_name(s->ssl, name) != 1)) {
		socket_set_tls_error(s, "no memory for TLS");
		return false;
	}
	return socket_shake_hands(s, at);
}

/* The result of an SSL call that returned n ≤ 0. */
static ssize_t
socket_tls_result(struct nats_socket *s, int n)
{
	switch (SSL_get_error(s->ssl, n)) {
	case SSL_ERROR_WANT_READ:
	case SSL_ERROR_WANT_WRITE:
		return 0;
	default:
		socket_set_tls_error(s, "the server closed the connection");
		return -1;
	}
}

/* ---- reading and writing ---- */

static ssize_t
socket_result(struct nats_socket *s, ssize_t n)
{
	if (n >= 0)
		return n;
	if (errno == EAGAIN || errno == EINTR)
		return 0;
	socket_set_errno(s);
	return -1;
}

ssize_t
nats_socket_read(struct nats_socket *s, char *dst, size_t max)
{
	ssize_t n;

	if (s->ssl != NULL) {
		ERR_clear_error();
		n = SSL_read(s->ssl, dst, (int)max);
		return n > 0 ? n : socket_tls_result(s, (int)n);
	}
	n = recv(s->fd, dst, max, MSG_DONTWAIT);
	if (n == 0) {
		str_copy(STR("the server closed the connection"), s->why,
		    sizeof(s->why));
		return -1;
	}
	return socket_result(s, n);
}

bool
nats_socket_has_more(const struct nats_socket *s)
{
	return s->ssl != NULL && SSL_pending(s->ssl) > 0;
}

ssize_t
nats_socket_write(struct nats_socket *s, const char *p, size_t n)
{
	int took;

	if (s->ssl == NULL)
		return socket_result(
		    s, send(s->fd, p, n, MSG_DONTWAIT | MSG_NOSIGNAL));
	if (n > INT32_MAX)
		n = INT32_MAX;
	ERR_clear_error();
	took = SSL_write(s->ssl, p, (int)n);
	return took > 0 ? took : socket_tls_result(s, took);
}

void
nats_socket_finish(struct nats_socket *s, struct mono at)
{
	char discarded[4096];
	ssize_t n;

	if (shutdown(s->fd, SHUT_WR) != 0)
		return;
	do {
		if (!nats_socket_wait(s, false, at))
			return;
		n = recv(s->fd, discarded, sizeof(discarded), MSG_DONTWAIT);
	} while (n > 0 || (n == -1 && (errno == EAGAIN || errno == EINTR)));
}
