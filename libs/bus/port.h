/*
 * port: the way from cnats' threads to the loop.
 *
 * A port outlives its bus for as long as a thread of the library may still
 * call back: whoever can do so holds a reference.  Once closed it takes
 * nothing more, so a bus can be freed while those threads run.
 */
#ifndef BUS_PORT_H
#define BUS_PORT_H

#include "core/loop.h"
#include "core/rc.h"

struct bus;
struct port;

/* port_new(l, b): An open port of b with one reference, the caller's. */
struct port *port_new(struct loop *l, struct bus *b);

/* port_ref(p), port_unref(p): Any thread.  The last one frees. */
void port_ref(struct port *p);
void port_unref(struct port *p);

/*
 * port_close(p):
 * Refuse posts from now on and send away who waits in port_post(); no thread
 * uses the loop through p after it.  Loop thread.
 */
void port_close(struct port *p);

/* port_bus(p): The bus, or NULL after port_close().  Loop thread. */
struct bus *port_bus(const struct port *p);

/*
 * port_post(p, fn, arg):
 * loop_post() that waits while the inbox is full.  RC_DOWN when the port or
 * the loop is closed; the caller then still owns arg.  On RC_OK the post holds
 * a reference, which fn gives back.  Any thread but the loop's.
 */
enum rc port_post(struct port *p, loop_fn fn, void *arg) RC_CHECK;

#endif /* !BUS_PORT_H */
