/*
 * gateway_exhaustion: a gateway with authentication, optionally behind the
 * shipped proxy, under connection exhaustion, and clients from other addresses.
 */
#ifndef TESTKIT_GATEWAY_EXHAUSTION_H
#define TESTKIT_GATEWAY_EXHAUSTION_H

#include <netinet/in.h>

#include "testkit/exhaustion.h"
#include "testkit/gateway_fixture.h"

/* Other clients use 127.0.0.2, the attack 127.0.0.1 or 127.1.0.0 and up. */
#define EXHAUSTION_OTHER_ADDRESS (INADDR_LOOPBACK + 1)
#define EXHAUSTION_FIRST_ADDRESS 0x7f010000u

#define EXHAUSTION_TOKEN "t-owner"
#define EXHAUSTION_TOKEN_SHA256 \
	"21dbb7c264bd513586b476efdaba864ddaca753c85a4b2adc6a188279160a816"

struct gateway_exhaustion {
	struct gateway_fixture b;
	struct tk_proc proxy;
	int proxy_port, mqtt_port;
};

/*
 * gateway_exhaustion_start(s, more): more are variables of the gateway, or
 *                                    NULL.
 * gateway_exhaustion_proxy(s):       Put the shipped proxy before it, without
 *                                    TLS.
 * gateway_exhaustion_stop(s):        End all.
 */
void gateway_exhaustion_start(
    struct gateway_exhaustion *s, const char *const more[]);
void gateway_exhaustion_proxy(struct gateway_exhaustion *s);
void gateway_exhaustion_stop(struct gateway_exhaustion *s);

/*
 * gateway_exhaustion_request(port, from, fields, ms):
 * The status of a request from that address, 0 without a response; *ms is how
 * long it took.
 */
int gateway_exhaustion_request(
    int port, uint32_t from, const char *fields, int64_t *ms);

/* Slow starts of requests. */
#define EXHAUSTION_SLOW_HEADER \
	"POST /v1/chat HTTP/1.1\r\nHost: localhost\r\nX-Slow: "
#define EXHAUSTION_SLOW_BODY                            \
	"POST /v1/chat HTTP/1.1\r\nHost: localhost\r\n" \
	"Content-Length: 1000\r\n\r\n{"

/*
 * gateway_exhaustion_attack(port, from, clients, start):
 * 1,000 connections from so many addresses that send start and then drip, or
 * send nothing, reopened whenever they are closed.
 */
struct tk_exhaustion *gateway_exhaustion_attack(
    int port, uint32_t from, size_t clients, const char *start);

#endif /* !TESTKIT_GATEWAY_EXHAUSTION_H */
