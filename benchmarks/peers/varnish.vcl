# Varnish as a cache in front of an S3 store, as benchmarks/run peers starts it: it fills in what stands between @ signs.
# Its memory is malloc's (-s malloc), the fastest of its storages; the rest of its options are in the bench's own list.
vcl 4.1;

backend store {
    .host = "127.0.0.1";
    .port = "@STORE@";
}

sub vcl_recv {
    # Unsigned reads alone: what is signed, Varnish passes on uncached.
    return (hash);
}

sub vcl_backend_response {
    # Never asked again while it measures: Railhead's rule is immutable.
    set beresp.ttl = 2h;
    set beresp.grace = 0s;
}
