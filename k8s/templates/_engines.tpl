{{/* engine-runner's model proxy, engines and disk. */}}

{{/* The file ENGINES.  key is a name in keysSecret. */}}
{{- define "soul.engines.file" -}}
{{- $list := list -}}
{{- range .engines -}}
{{- $engine := omit . "key" -}}
{{- with .key }}{{ $_ := set $engine "key_file" (printf "/run/engine-keys/%s" .) }}{{ end -}}
{{- $list = append $list $engine -}}
{{- end -}}
{{- dict "engines" $list | toJson -}}
{{- end -}}

{{/*
(dict "root" $ "service" …): the container of the model proxy, which alone has the
keys.  It goes on until the runner has ended, whose engines call it.
*/}}
{{- define "soul.engines.proxy" -}}
{{- $s := .service -}}
name: engine-proxy
image: {{ include "soul.image" (dict "root" .root "part" "engine-runner" "image" $s.proxy.image) }}
imagePullPolicy: {{ .root.Values.image.pullPolicy }}
{{ include "soul.container.security" . }}
args: [proxy]
env:
  - name: ADMIN_ADDR
    value: 0.0.0.0:9124
  - name: ENGINES
    value: /etc/soul/engines.json
  - name: LOG_LEVEL
    value: {{ $s.logLevel | default .root.Values.logLevel | quote }}
  - name: RUNS_DIR
    value: /var/lib/soul/runs
ports:
  - name: proxy-admin
    containerPort: 9124
    protocol: TCP
startupProbe:
  httpGet: {path: /livez, port: proxy-admin}
  periodSeconds: 1
  timeoutSeconds: 2
  failureThreshold: 60
livenessProbe:
  httpGet: {path: /livez, port: proxy-admin}
  periodSeconds: 10
  timeoutSeconds: 3
  failureThreshold: 3
readinessProbe:
  httpGet: {path: /readyz, port: proxy-admin}
  periodSeconds: 3
  timeoutSeconds: 2
  failureThreshold: 2
lifecycle:
  preStop:
    exec:
      command: [bash, -c, "while (: </dev/tcp/127.0.0.1/9118) 2>/dev/null; do sleep 1; done"]
resources: {{- toYaml $s.proxy.resources | nindent 2 }}
volumeMounts:
  - name: engines
    mountPath: /etc/soul
    readOnly: true
  - name: data
    mountPath: /var/lib/soul
{{- if $s.keysSecret }}
  - name: keys
    mountPath: /run/engine-keys
    readOnly: true
{{- end }}
{{- end -}}

{{- define "soul.engines.volumes" }}
- name: engines
  configMap:
    name: {{ include "soul.fullname" .root }}-engines
{{- with .service.keysSecret }}
- name: keys
  secret:
    secretName: {{ . }}
    defaultMode: 0440
{{- end }}
{{- with .service.skillsClaim }}
- name: skills
  persistentVolumeClaim:
    claimName: {{ . }}
    readOnly: true
{{- end }}
{{- if not .service.storage.enabled }}
- name: data
  emptyDir: {}
{{- end }}
{{- end -}}
