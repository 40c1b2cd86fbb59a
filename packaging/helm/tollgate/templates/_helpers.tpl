{{- define "tollgate.fullname" -}}
{{- if contains .Chart.Name .Release.Name -}}
{{- .Release.Name | trunc 63 | trimSuffix "-" -}}
{{- else -}}
{{- printf "%s-%s" .Release.Name .Chart.Name | trunc 63 | trimSuffix "-" -}}
{{- end -}}
{{- end -}}

{{- define "tollgate.selector" -}}
app.kubernetes.io/name: {{ .Chart.Name }}
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end -}}

{{- define "tollgate.labels" -}}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version }}
{{ include "tollgate.selector" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
{{- end -}}

{{- define "tollgate.serviceAccount" -}}
{{- if .Values.serviceAccount.create -}}
{{- default (include "tollgate.fullname" .) .Values.serviceAccount.name -}}
{{- else -}}
{{- default "default" .Values.serviceAccount.name -}}
{{- end -}}
{{- end -}}

{{- /* What would fail later, and less clearly, fails when the chart is rendered. */ -}}
{{- define "tollgate.check" -}}
{{- $several := or (gt (int .Values.replicaCount) 1) .Values.autoscaling.enabled -}}
{{- if and $several (not .Values.database.existingSecret) -}}
{{- fail "Several pods need PostgreSQL: set database.existingSecret, or keep replicaCount at 1 and autoscaling off." -}}
{{- end -}}
{{- if and .Values.database.existingSecret (not .Values.secretKey.existingSecret) -}}
{{- fail "With PostgreSQL, set secretKey.existingSecret: a generated key would be lost with the pod." -}}
{{- end -}}
{{- if and .Values.metrics.serviceMonitor.enabled (not .Values.metrics.existingSecret) -}}
{{- fail "metrics.serviceMonitor needs metrics.existingSecret, a secret with the token for /metrics." -}}
{{- end -}}
{{- end -}}
