package io.railhead.gateway.frontdoor;

import static org.assertj.core.api.Assertions.assertThat;

import io.railhead.gateway.Refusals;
import io.railhead.gateway.s3.sigv4.HandSigned;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Heads that are no requests, or not whose they say: see also {@link HttpFramingIT}. */
@SuppressWarnings("StringConcatToTextBlock") // its lines end in CR LF
class BadHeadsIT extends Refusals {

    private static String head(String target, String fields) {
        return "GET " + target + " HTTP/1.1\r\nHost: h\r\n" + fields + "\r\n";
    }

    private static String post(String fields, String body) {
        return "POST /b/key HTTP/1.1\r\nHost: h\r\n" + fields + "\r\n\r\n" + body;
    }

    private static Refusal bad(String name, String wire) {
        return new Refusal(name, wire, 400, "BadRequest");
    }

    static Stream<Refusal> framing() {
        List<Refusal> all = new ArrayList<>();
        for (String coding : List.of("chunked, chunked", "CHUNKED", "chunked\u000b", "\"chunked\"",
                "chunked;q=1", "gzip, chunked", "identity",
                "chunked\r\nTransfer-Encoding: identity",
                "chunked\r\nTransfer-Encoding: chunked", "chunked\r\nContent-Length: 5,5")) {
            all.add(bad(coding, post("Transfer-Encoding: " + coding, "0\r\n\r\n")));
        }
        for (String length : List.of("+5", "5 5", "5,5", "0x5", "5;", "-0", "",
                "18446744073709551616",
                "9223372036854775808", "5\u00a0", "\r\n 5", "5\r\n ", "1\r\n 0")) {
            all.add(bad(length, post("Content-Length: " + length, "hello")));
        }
        for (String host : List.of("", "a b", "a,b", "a/b", "[::1", "[::1]x", "::1", "h:port",
                "h:1:2", "user@h", "h\u00e9", "h?", "h#", "h\r\n x", "h\r\nHost: h")) {
            all.add(bad("Host " + host, "GET /b/key HTTP/1.1\r\nHost: " + host + "\r\n\r\n"));
        }
        for (String field : List.of(": x", "X\t: a", "X\u0001: a", "X: a\u0001b", "X: \0",
                "X: a\nY: b",
                "X\u00e9: a", "X(: a", "NoColon",
                "Sec-WebSocket-Key1: 1\r\nSec-WebSocket-Key2: 2")) {
            all.add(bad(field, head("/b/key", field + "\r\n")));
        }
        for (String version : List.of("HTTP/1.2", "HTTP/2.0", "HTTP/0.9", "HTTP/11.1", "HTTP/1.1 x",
                "HTTP/99999999999.1", "ICY/1.1")) {
            all.add(bad(version, "GET /b/key " + version + "\r\nHost: h\r\n\r\n"));
        }
        all.add(bad("HTTP/2 preface", "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"));
        all.add(bad("control character in the method",
                "G\u0001T /b/key HTTP/1.1\r\nHost: h\r\n\r\n"));
        for (String target : List.of("/b/k\u0001ey", "/b/k\u007fey", "/b/k\tey", "/b/k ey")) {
            all.add(bad(target, head(target, "")));
        }
        all.add(new Refusal("a megabyte of one field", head("/b/key", "X: " + "z".repeat(1 << 20)
                + "\r\n"), 400, "RequestHeaderSectionTooLarge"));
        all.add(new Refusal("a megabyte of fields", head("/b/key", "X: z\r\n".repeat(200_000)), 400,
                "RequestHeaderSectionTooLarge"));
        all.add(new Refusal("a long target", head("/b/" + "k".repeat(1 << 20), ""), 400,
                "InvalidURI"));
        return all.stream();
    }

    @ParameterizedTest
    @MethodSource("framing")
    void whereTheNextRequestBeginsIsInDoubtNothingIsServed(Refusal refusal) {
        refusedAndClosed(refusal);
    }

    static Stream<Refusal> targets() {
        List<Refusal> all = new ArrayList<>();
        for (String target : List.of("http:///b/key", "http://u:p@h/b/key", "http://u@h/b/key",
                "http://h:x/b/key", "https://h/b/key", "ftp://h/b/key", "http:/b/key", "h:443",
                "b/key", "?x",
                "*", "/b/%", "/b/%zz", "/b/%4", "/b/%ff", "/b/%C0%80", "/b/%ed%a0%80", "/%fe/key",
                "/b/\u00e9", "/%/key", "/b/key?%", "/b/key?a=%f",
                "/b/key?" + "a&".repeat(600))) {
            all.add(new Refusal(target, head(target, ""), 400, "InvalidURI"));
        }
        for (String target : List.of("//b/key", "/./key", "/../key", "/%2e%2E/key", "/a%2fb/key",
                "/a%5Cb/key", "/a\\b/key", "/a%252fb/key", "/%252e%252e/key", "/a%3Fb/key",
                "/%c3%bc/key", "/a%00/key", "/a%0d%0a/key", "/a%20b/key", "//")) {
            all.add(new Refusal(target, head(target, ""), 400, "InvalidBucketName"));
        }
        for (String method : List.of("FOO", "TRACE", "CONNECT", "get", "PROPFIND", "PRI",
                "G".repeat(5000))) {
            all.add(new Refusal(method, method + " /b/key HTTP/1.1\r\nHost: h\r\n\r\n", 405,
                    "MethodNotAllowed"));
        }
        all.add(new Refusal("a tunnel", "CONNECT h:443 HTTP/1.1\r\nHost: h\r\n\r\n", 405,
                "MethodNotAllowed"));
        all.add(new Refusal("signed", new HandSigned("BREW", "/b/key", "").head(), 405,
                "MethodNotAllowed"));
        for (String own : List.of("/.railhead/", "/.railhead/../b/key", "/.railhead/sessions")) {
            all.add(new Refusal(own, head(own, ""), 403, "AccessDenied"));
        }
        return all.stream();
    }

    @ParameterizedTest
    @MethodSource("targets")
    void whatNamesNothingIsRefused(Refusal refusal) {
        refused(refusal);
    }

    static Stream<Refusal> dates() {
        List<Refusal> all = new ArrayList<>();
        Instant now = Instant.now();
        for (String date : List.of("1969-12-31T23:59:59Z", "1900-01-01T00:00:00Z",
                "0000-01-01T00:00:00Z")) {
            Instant when = Instant.parse(date);
            all.add(new Refusal(date, get().at(when).head(), 403, "AccessDenied"));
            all.add(query(date, get().at(when).presigned("60")));
        }
        for (Instant when : List.of(Instant.EPOCH, now.minusSeconds(1000), now.plusSeconds(1000),
                Instant.parse("9999-12-31T23:59:59Z"))) {
            all.add(new Refusal("" + when, get().at(when).head(), 403, "RequestTimeTooSkewed"));
            all.add(new Refusal("" + when, get().at(when).presigned("60"), 403, "AccessDenied"));
        }
        all.add(new Refusal("at once", get().at(now.minusSeconds(2)).presigned("0"), 403,
                "AccessDenied"));
        for (String expires : List.of("-1", "604801", "9223372036854775807", "9223372036854775808",
                "-9223372036854775808", "99999999999999999999999", "1e3", "0x10", "", "60.5",
                "%2B60", "%2060", "60%00", "%D9%A1")) {
            all.add(query("expires " + expires, get().presigned(expires)));
        }
        return all.stream();
    }

    private static Refusal query(String name, String wire) {
        return new Refusal(name, wire, 400, "AuthorizationQueryParametersError");
    }

    private static Refusal header(String name, String wire) {
        return new Refusal(name, wire, 400, "AuthorizationHeaderMalformed");
    }

    static Stream<Refusal> signatures() {
        List<Refusal> all = new ArrayList<>();
        String byQuery = get().presigned("60");
        for (String twice : List.of("X-Amz-Signature=" + "0".repeat(64), "X-Amz-Expires=60",
                "X-Amz-Credential=AK", "X-Amz-Algorithm=AWS4-HMAC-SHA256",
                "X-Amz-SignedHeaders=host", "X-Amz-Date=20261121T000000Z", "%58-Amz-Expires=60",
                "X-Amz-Security-Token=a&X-Amz-Security-Token=b")) {
            all.add(query(twice, byQuery.replaceFirst(" HTTP", "&" + twice + " HTTP")));
        }
        String byHeader = get().head();
        for (String part : List.of("Credential=AK", "SignedHeaders=host",
                "Signature=" + "0".repeat(64), "Other=1", "", "=")) {
            all.add(header(part, byHeader.replace(", Signature=", ", " + part + ", Signature=")));
        }
        all.add(header("two of them", byHeader.replace("authorization:",
                "authorization: AWS4-HMAC-SHA256 x\r\nauthorization:")));
        all.add(header("60 KB", head("/b/key", "authorization: AWS4-HMAC-SHA256 Credential="
                + "a".repeat(60_000) + "\r\n")));
        all.add(header("200 names", byHeader.replace("SignedHeaders=",
                "SignedHeaders=" + "a;".repeat(200))));
        String signed = byHeader.substring(byHeader.indexOf("x-amz-content"));
        all.add(new Refusal("both ways", byQuery.replace("\r\n\r\n", "\r\n" + signed), 400,
                "InvalidArgument"));
        all.add(new Refusal("1100 fields", byHeader.replace("\r\n\r\n",
                "\r\n" + "X-Y: z\r\n".repeat(1100) + "\r\n"), 400, "RequestHeaderSectionTooLarge"));
        all.add(new Refusal("two dates", byHeader.replace("authorization:",
                "x-amz-date: 20200101T000000Z\r\nauthorization:"), 400, "InvalidRequest"));
        all.add(new Refusal("SigV4A", byHeader.replace("AWS4-HMAC-SHA256 ",
                "AWS4-ECDSA-P256-SHA256 "), 400, "InvalidRequest"));
        all.add(new Refusal("a second range", get().header("range", "bytes=0-0")
                .head()
                .replace("\r\n\r\n", "\r\nrange: bytes=1-1\r\n\r\n"), 403,
                "SignatureDoesNotMatch"));
        all.add(new Refusal("a field in two lines", get().header("x-amz-meta-a", "b")
                .head()
                .replace("x-amz-meta-a: b", "x-amz-meta-a: b\r\n c"), 403,
                "SignatureDoesNotMatch"));
        return all.stream();
    }

    @ParameterizedTest
    @MethodSource({"dates", "signatures"})
    void aSignatureThatIsNotExactlyOneAndOfNowIsRefused(Refusal refusal) {
        refused(refusal);
    }

    @ParameterizedTest
    @ValueSource(strings = {"bytes=99999999999999999999-", "bytes=-0", "bytes=10-",
            "bytes=9223372036854775807-9223372036854775807", "bytes=18446744073709551616-",
            "bytes=9223372036854775806-", "bytes=4294967296-", "bytes=10-99999999999999999999"})
    void aRangeBehindTheEndIsRefusedWhateverItsNumbers(String range) {
        try (RawConnection raw = connect()) {
            RawConnection.Answer answer = raw.send(get().header("range", range).head()).receive();
            assertThat(answer.status()).as(answer.body()).isEqualTo(416);
            assertThat(answer.body()).contains("<Code>InvalidRange</Code>");
            requireServes(raw);
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"bytes=0-99999999999999999999", "bytes=-99999999999999999999",
            "bytes=0-9223372036854775807", "bytes=0-9223372036854775808",
            "bytes=-9223372036854775808", "bytes=00000000000000000000000-9"})
    void aRangeThatReachesBeyondTheEndEndsThere(String range) {
        try (RawConnection raw = connect()) {
            RawConnection.Answer answer = raw.send(get().header("range", range).head()).receive();
            assertThat(answer.status()).isEqualTo(206);
            assertThat(answer.body()).isEqualTo("0123456789");
            assertThat(answer.headers()).containsEntry("content-range", "bytes 0-9/10");
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"bytes=5-2", "bytes=", "bytes=-", "bytes=a-b", "bytes=0-0,2-3",
            "bits=0-1", "bytes= 0-1",
            "bytes=0x0-0x1", "bytes=+0-+1", "bytes=--1", "bytes=1--1", "bytes"})
    void whatIsNoSingleRangeIsForTheStoreToJudge(String range) {
        int forwarded = store().requests().size();
        try (RawConnection raw = connect()) {
            RawConnection.Answer answer = raw.send(get().header("range", range).head()).receive();
            assertThat(answer.status()).as(answer.body()).isEqualTo(200);
        }
        assertThat(store().requestsAfter(forwarded))
                .containsExactly("GET /b/key " + range);
    }
}
