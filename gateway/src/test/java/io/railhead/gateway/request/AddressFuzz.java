package io.railhead.gateway.request;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static java.nio.charset.StandardCharsets.UTF_8;

import io.railhead.backend.PercentCodec;
import io.railhead.gateway.s3.Query;
import java.io.ByteArrayOutputStream;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;

/**
 * Targets and hosts: the first line is a path with its query, the second a Host. What a key is
 * called is found again, and nothing of the path is lost or normalised.
 */
public final class AddressFuzz {
    private static final List<String> DOMAINS = List.of("s3.rack", "rack");

    private AddressFuzz() {}

    public static void fuzzerTestOneInput(byte[] input) {
        String text = new String(input, ISO_8859_1);
        int line = text.indexOf('\n');
        String target = PercentCodec
                .ascii('/' + (line < 0 ? text : text.substring(0, line)));
        String host = line < 0 ? "h" : text.substring(line + 1);
        int mark = target.indexOf('?');
        address(mark < 0 ? target : target.substring(0, mark), host);
        if (mark >= 0) {
            query(target.substring(mark + 1));
        }
        named(new String(input, UTF_8));
    }

    private static void address(String path, String host) {
        Address address;
        try {
            address = Address.of(path, host, DOMAINS);
        } catch (IllegalArgumentException e) {
            require(path.indexOf('%') >= 0);
            return;
        }
        String bucket = address.bucket();
        if (bucket == null) {
            require(path.equals("/"));
        } else if (Address.bucketOf(host, DOMAINS) != null) {
            require(path.equals('/' + address.rawKey()));
            require(host.toLowerCase(Locale.ROOT).startsWith(bucket + '.'));
        } else {
            require(path.endsWith(address.rawKey()) && bucket.length() <= path.length());
        }
        // No two keys become one.
        require(Arrays.equals(address.key().getBytes(UTF_8), octets(address.rawKey())));
    }

    private static byte[] octets(String raw) {
        ByteArrayOutputStream octets = new ByteArrayOutputStream();
        byte[] in = raw.getBytes(UTF_8);
        for (int i = 0; i < in.length; i++) {
            octets.write(in[i] == '%'
                    ? Integer.parseInt(new String(in, i + 1, 2, ISO_8859_1), 16)
                    : in[i]);
            i += in[i] == '%' ? 2 : 0;
        }
        return octets.toByteArray();
    }

    private static void named(String key) {
        if (new String(key.getBytes(UTF_8), UTF_8).equals(key)) {
            Address named = Address.ofObject("b", key);
            Address read = Address.of("/b/" + named.rawKey(), "h", DOMAINS);
            require(read.equals(named));
        }
    }

    private static void query(String raw) {
        Query query;
        try {
            query = Query.parse(raw);
        } catch (IllegalArgumentException e) {
            require(raw.indexOf('%') >= 0);
            return;
        }
        String rest = query.rawWithoutSigning();
        Query again = Query.parse(rest);
        require(rest == null || (!again.isPresigned() && rest.equals(again.rawWithoutSigning())));
        require(query.allNames(name -> again.has(name) && (query.isPresigned()
                || String.valueOf(query.get(name)).equals(again.get(name)))));
        query.getSpaced("prefix");
    }

    private static void require(boolean kept) {
        if (!kept) {
            throw new AssertionError();
        }
    }
}
