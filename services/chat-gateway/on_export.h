/*
 * on_export: all memories of a user as JSON lines.
 *
 * The answer begins with the first page, so that what fails until then is
 * answered in JSON as ever.  One page is read when most of the one before has
 * been taken, so that an export is never held as a whole.  It ends with a line
 * "end", or it is cut.
 */
#ifndef CHAT_GATEWAY_ON_EXPORT_H
#define CHAT_GATEWAY_ON_EXPORT_H

struct svc_call;

/* Handler of the route; app is the struct gateway. */
void on_export(void *app, struct svc_call *c);

#endif /* !CHAT_GATEWAY_ON_EXPORT_H */
