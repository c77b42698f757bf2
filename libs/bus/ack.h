/*
 * ack: the reply subject of a JetStream delivery, which is where the server
 * writes what it knows of the message.
 */
#ifndef BUS_ACK_H
#define BUS_ACK_H

#include "bus/jetstream.h"
#include "core/rc.h"
#include "core/str.h"

/*
 * ack_subject_read(subject, j):
 * Read "$JS.ACK.<stream>.<consumer>.<delivered>.<stream seq>.<consumer
 * seq>.<time>.<pending>", or the newer form with domain and account after ACK
 * and possibly more at the end.  RC_INVALID if subject is neither.
 */
enum rc ack_subject_read(struct str subject, struct bus_delivery *j) RC_CHECK;

#endif /* !BUS_ACK_H */
