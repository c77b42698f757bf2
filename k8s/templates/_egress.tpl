{{/* Egress rules of network policies. */}}

{{- define "soul.egress.dns" -}}
- ports:
    - {port: 53, protocol: UDP}
    - {port: 53, protocol: TCP}
  {{- with .Values.networkPolicy.dns }}
  to: {{- toYaml . | nindent 4 }}
  {{- end }}
{{- end -}}

{{/* (dict "root" $ "need" "nats"): egress to a server, bundled or external. */}}
{{- define "soul.egress.server" -}}
{{- $at := index .root.Values .need -}}
{{- if $at.bundled.enabled -}}
- to:
    - podSelector:
        matchLabels: {{- include "soul.selector" (dict "root" .root "part" (ternary "mosquitto" .need (eq .need "mqtt"))) | nindent 10 }}
  ports:
    - port: {{ .port | default .need }}
{{- else -}}
{{- $ports := list -}}
{{- $url := $at.external.url | default "" -}}
{{- if hasPrefix "redis+sentinel://" $url -}}
{{- /* The sentinels, and the port of the servers that they name. */ -}}
{{- $hosts := trimPrefix "redis+sentinel://" $url | splitList "/" | first -}}
{{- range splitList "," $hosts }}{{ $ports = append $ports (regexFind ":[0-9]+$" . | trimPrefix ":" | default "26379") }}{{ end -}}
{{- $ports = append $ports ($at.external.port | toString) -}}
{{- else -}}
{{- range splitList "," $url }}{{ if . }}{{ $ports = append $ports (include "soul.port" (trim .)) }}{{ end }}{{ end -}}
{{- end -}}
{{- if not $ports }}{{ $ports = list ($at.external.port | toString) }}{{ end -}}
- ports:
    {{- range uniq $ports }}
    - port: {{ . }}
    {{- end }}
  {{- with $at.external.to }}
  to: {{- toYaml . | nindent 4 }}
  {{- end }}
{{- end -}}
{{- end -}}

{{/* (dict "root" $ "part" … "service" …): ports of external endpoints, as YAML. */}}
{{- define "soul.egress.ports" -}}
{{- $v := .root.Values -}}
{{- $ports := list -}}
{{- if has "llm" .service.needs -}}
{{- if $v.llm.providers -}}
{{- range $v.llm.providers }}{{ $ports = append $ports (include "soul.port" .base_url) }}{{ end -}}
{{- else if $v.llm.baseUrl -}}
{{- $ports = append $ports (include "soul.port" $v.llm.baseUrl) -}}
{{- else if eq $v.llm.provider "claude" -}}
{{- $ports = append $ports "443" -}}
{{- end -}}
{{- end -}}
{{- range .service.urls -}}
{{- with index ($.service.env | default dict) . }}{{ $ports = append $ports (include "soul.port" .) }}{{ end -}}
{{- end -}}
{{- range .service.engines }}{{ with .base_url }}{{ $ports = append $ports (include "soul.port" .) }}{{ end }}{{ end -}}
{{- range .service.servers }}{{ with .url }}{{ $ports = append $ports (include "soul.port" .) }}{{ end }}{{ end -}}
{{- /* Webhooks and MCP servers of users are https. */ -}}
{{- if and .service.seals $v.auth.secretsKeySecret }}{{ $ports = append $ports "443" }}{{ end -}}
{{- $numbers := list -}}
{{- range uniq $ports }}{{ $numbers = append $numbers (int .) }}{{ end -}}
{{- $numbers | toYaml -}}
{{- end -}}
