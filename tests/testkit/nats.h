/*
 * tk_nats: a plain client of nats-server that shares no code with libs/bus. A
 * failure fails the test.
 */
#ifndef TESTKIT_NATS_H
#define TESTKIT_NATS_H

#include <jansson.h>
#include <nats/nats.h>

/* tk_nats_connect(url): A connection; the caller destroys it. */
natsConnection *tk_nats_connect(const char *url);

/*
 * tk_nats_listen(nc, subject): Subscribe, and wait until the server has the
 * subscription.
 */
natsSubscription *tk_nats_listen(natsConnection *nc, const char *subject);

/* tk_nats_unlisten(nc, sub): Destroy sub, also while messages for it come. */
void tk_nats_unlisten(natsConnection *nc, natsSubscription *sub);

/* tk_nats_json(m): Parse a message, which is not consumed. */
json_t *tk_nats_json(natsMsg *m);

/* Room for a subject, and for the code of an error. */
#define TK_SUBJECT 256
#define TK_CODE    64

/*
 * tk_nats_next(sub, ms, subject): The JSON of the next message, NULL if none
 * comes within ms; its subject is stored in subject (may be NULL, room for
 * TK_SUBJECT).
 */
json_t *tk_nats_next(natsSubscription *sub, int ms, char *subject);

/*
 * tk_nats_request(nc, subject, body, code): The JSON of the reply to a request,
 * within 60 s; code is the error in the reply's header, "" if there is none.
 */
json_t *tk_nats_request(natsConnection *nc, const char *subject,
    const char *body, char code[TK_CODE]);

/*
 * tk_nats_stored(nc, stream, filter, fn, arg): Call fn with the JSON of each
 * message that the stream has of that subject (wildcards allowed), the oldest
 * first; their number.
 */
size_t tk_nats_stored(natsConnection *nc, const char *stream,
    const char *filter, void (*fn)(void *arg, json_t *j), void *arg);

/*
 * tk_nats_events(nc): Create the stream of events, so that the first publisher
 * gets its acknowledgement at once: otherwise a plain subscriber would receive
 * the event again when it is re-sent.
 */
void tk_nats_events(natsConnection *nc);

/*
 * tk_nats_send(nc, subject, body): Publish, and wait until the server has it.
 */
void tk_nats_send(natsConnection *nc, const char *subject, const char *body);

#endif /* !TESTKIT_NATS_H */
