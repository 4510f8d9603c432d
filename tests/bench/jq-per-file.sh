#!/usr/bin/env bash
# How verdict reports cost with a jq process a field and file, as shell libraries do it. For
# `make bench` alone: the same reports, written from scratch.
report=$1 store=$2
case $report in
  write)
    mkdir -p "$store"
    jq -n --arg type verdict --arg status CLEAN --arg model haiku --arg summary "nothing found" \
      --argjson files '[]' --argjson count 0 --argjson tokens 0 --arg detail "$store/a.md" \
      --arg timestamp "$(date -u +%Y-%m-%dT%H:%M:%SZ)" \
      '{type: $type, status: $status, model: $model, tokens_spent: $tokens, files_changed: $files,
        findings_count: $count, summary: $summary, detail_path: $detail, timestamp: $timestamp}' \
      > "$store/.a.json.tmp" && mv "$store/.a.json.tmp" "$store/a.json"
    ;;
  table)
    for file in "$store"/*.json; do
      row=$(jq -r '[.status, .summary] | @tsv' "$file")
      printf '%s\t%s\t%s\n' "${row%%$'\t'*}" "$(basename "$file" .json)" "${row#*$'\t'}"
    done
    ;;
  count)
    for status in CLEAN NEEDS_ATTENTION BLOCKED ERROR COMPLETE PARTIAL FAILED; do
      number=0
      for file in "$store"/*.json; do
        [ "$(jq -r .status "$file")" = "$status" ] && number=$((number + 1))
      done
      [ "$number" -gt 0 ] && printf '%s %s, ' "$number" "$status"
    done
    echo
    ;;
  attention)
    for file in "$store"/*.json; do
      case $(jq -r .status "$file") in
        NEEDS_ATTENTION | FAILED)
          printf '%s\t%s\t%s\n' "$(basename "$file" .json)" \
            "$(jq -r .findings_count "$file")" "$(jq -r .detail_path "$file")"
          ;;
      esac
    done
    ;;
  tokens)
    total=0
    for file in "$store"/*.json; do
      total=$((total + $(jq -r '.tokens_spent // 0 | floor' "$file")))
    done
    echo "$total"
    ;;
esac
