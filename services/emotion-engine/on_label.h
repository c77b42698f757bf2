/*
 * on_label: texts and names become emotions; nobody's soul is touched.
 */
#ifndef EMOTION_ENGINE_ON_LABEL_H
#define EMOTION_ENGINE_ON_LABEL_H

struct svc_call;

/*
 * on_analyze(e, c):   The emotion in a text.
 * on_convert(e, c):   The prototype of a named emotion.
 * on_pad_table(e, c): All prototypes.
 */
void on_analyze(void *e, struct svc_call *c);
void on_convert(void *e, struct svc_call *c);
void on_pad_table(void *e, struct svc_call *c);

#endif /* !EMOTION_ENGINE_ON_LABEL_H */
