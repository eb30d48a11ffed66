-- wrk's figures as one line of JSON.
function done(summary, latency, _)
    local errors = summary.errors
    io.write(string.format(
        '{"seconds": %.6f, "bytes": %d, "requests": %d, "p50_us": %d, "p99_us": %d, "errors": %d}\n',
        summary.duration / 1e6, summary.bytes, summary.requests, latency:percentile(50), latency:percentile(99),
        errors.connect + errors.read + errors.write + errors.status + errors.timeout))
end
