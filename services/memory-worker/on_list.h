/*
 * on_list: all memories, page by page.
 */
#ifndef MEMORY_WORKER_ON_LIST_H
#define MEMORY_WORKER_ON_LIST_H

struct svc_call;

/* Handler of the route; app is the struct keeper. */
void on_list(void *app, struct svc_call *c);

#endif /* !MEMORY_WORKER_ON_LIST_H */
