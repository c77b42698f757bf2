/*
 * tk_nats: a plain client of nats-server, which shares nothing with the
 * library that it tests.  What fails here fails the test.
 */
#ifndef TESTKIT_NATS_H
#define TESTKIT_NATS_H

#include <jansson.h>
#include <nats/nats.h>

/* tk_nats_connect(url): A connection; the caller destroys it. */
natsConnection *tk_nats_connect(const char *url);

/* tk_nats_listen(nc, subject): A subscription that the server has. */
natsSubscription *tk_nats_listen(natsConnection *nc, const char *subject);

/* tk_nats_json(m): The JSON in a message, which stays as it is. */
json_t *tk_nats_json(natsMsg *m);

/* Room for a subject, and for the code of an error. */
#define TK_SUBJECT 256
#define TK_CODE    64

/*
 * tk_nats_next(sub, ms, subject):
 * The JSON of the next message, NULL if none comes within ms; subject (may be
 * NULL, room for TK_SUBJECT) is where it was sent to.
 */
json_t *tk_nats_next(natsSubscription *sub, int ms, char *subject);

/*
 * tk_nats_request(nc, subject, body, code):
 * The JSON that answers a request within 60 s; code is the error in the
 * answer's header, "" if there is none.
 */
json_t *tk_nats_request(natsConnection *nc, const char *subject,
    const char *body, char code[TK_CODE]);

/*
 * tk_nats_events(nc):
 * Make the stream of events, so that who tells the first is answered at once: a
 * plain listener would hear it again when it is repeated.
 */
void tk_nats_events(natsConnection *nc);

/* tk_nats_send(nc, subject, body): Publish, and see that the server has it. */
void tk_nats_send(natsConnection *nc, const char *subject, const char *body);

#endif /* !TESTKIT_NATS_H */
