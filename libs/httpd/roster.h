/*
 * roster: the connections of a server as they are at one moment, found among
 * the open descriptors, and an end for any of them.  Private; of one thread.
 */
#ifndef HTTPD_ROSTER_H
#define HTTPD_ROSTER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/clock.h"
#include "httpd/server.h"

struct roster_one {
	uint32_t addr; /* of the other end, host order */
	uint16_t port;
	bool served;       /* it has a request in hand */
	bool unread;       /* it has said something that nobody has read */
	bool cut;          /* by roster_cut() */
	struct mono since; /* when it was seen first */
	struct mono body;  /* when its body began; 0: none is being read */
	int fd;
};

/* Zero it before its first use. */
struct roster {
	struct roster_one *all; /* those of one address together */
	size_t n;
	/* Private. */
	size_t cap, before_cap, polls_cap;
	struct roster_one *before;
	size_t nbefore;
	struct pollfd *polls;
};

/*
 * roster_look(ro, h, now):
 * Note all connections of h that neither end has ended, those of trusted
 * proxies excepted.
 */
void roster_look(struct roster *ro, struct httpd *h, struct mono now);

/* roster_forget(ro): What is seen next is seen for the first time. */
void roster_forget(struct roster *ro);

/*
 * roster_cut(h, o):
 * End a connection: at once, or so that the worker that reads its body can
 * still answer.  False if it has ended by itself.
 */
bool roster_cut(const struct httpd *h, struct roster_one *o);

/* roster_free(ro): It is as zeroed then. */
void roster_free(struct roster *ro);

#endif /* !HTTPD_ROSTER_H */
