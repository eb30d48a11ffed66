package io.railhead.gateway.s3.body;

import io.railhead.gateway.Refusals;
import io.railhead.gateway.s3.sigv4.HandSigned;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.function.BiFunction;
import java.util.stream.Stream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Bodies that are not what was declared or signed, and documents that are none. */
class BadBodiesIT extends Refusals {
    private static final String CRC = "x-amz-checksum-crc32:NhCmhg==\r\n";
    private static final String CHUNKS = "STREAMING-AWS4-HMAC-SHA256-PAYLOAD";

    private static HandSigned put() {
        return new HandSigned("PUT", "/b/new", "");
    }

    static Stream<Refusal> sums() {
        List<Refusal> all = new ArrayList<>();
        Map.of("x", "InvalidDigest", "====", "InvalidDigest", "", "InvalidDigest",
                "1B2M2Y8AsgTpgAmY7PhCfgAA", "InvalidDigest", "1B2M2Y8AsgTpgAmY7PhCfg==",
                "BadDigest").forEach((md5, code) -> all.add(hello("content-md5", md5, code)));
        // What cannot be any body's sum is left to the store: stores name it differently.
        all.add(hello("x-amz-checksum-crc32", "AAAAAA==", "BadDigest"));
        all.add(hello("x-amz-trailer", "x-amz-checksum-crc32", "InvalidRequest"));
        all.add(new Refusal("another hash", put().body("hellx").head() + "hello", 400,
                "XAmzContentSHA256Mismatch"));
        all.add(new Refusal("no hash", put().payload("E3").header("content-length", "5").head()
                + "hello", 400, "InvalidArgument"));
        all.add(new Refusal("SigV4A", put().payload("STREAMING-AWS4-ECDSA-P256-SHA256-PAYLOAD")
                .header("content-length", "5")
                .head() + "hello", 400, "InvalidRequest"));
        return all.stream();
    }

    private static Refusal hello(String header, String value, String code) {
        return new Refusal(header + " " + value,
                put().header(header, value).body("hello").head() + "hello", 400, code);
    }

    /** In aws-chunks, and those in a body of known length. */
    private static Refusal chunked(String code, int status, String trailer,
            BiFunction<HandSigned, String, String> body) {
        // The chunks' signatures continue the head's, which covers their length: found by trying.
        int length = 0;
        while (true) {
            HandSigned request = put().payload(CHUNKS + (trailer.isEmpty() ? "" : "-TRAILER"))
                    .header("x-amz-decoded-content-length", "5")
                    .header("content-length", String.valueOf(length));
            if (!trailer.isEmpty()) {
                request.header("x-amz-trailer", trailer);
            }
            String head = request.head();
            String chunks = body.apply(request, request.chunk("hello"));
            if (chunks.length() == length) {
                return new Refusal(chunks, head + chunks, status, code);
            }
            length = chunks.length();
        }
    }

    static Stream<Refusal> chunks() {
        String crc = "x-amz-checksum-crc32";
        return Stream.of(
                chunked("SignatureDoesNotMatch", 403, "",
                        (r, one) -> one.replace("hello", "hellx") + r.chunk("") + "\r\n"),
                chunked("SignatureDoesNotMatch", 403, "",
                        (r, one) -> one.replaceFirst("=.{64}", "=" + "0".repeat(64)) + r.chunk("")
                                + "\r\n"),
                chunked("SignatureDoesNotMatch", 403, "",
                        (r, one) -> one.replaceFirst(";chunk-signature=.{64}", "") + r.chunk("")
                                + "\r\n"),
                chunked("SignatureDoesNotMatch", 403, "",
                        (r, one) -> one + r.chunk("").replaceFirst("=.{64}", "=" + "0".repeat(64))
                                + "\r\n"),
                chunked("IncompleteBody", 400, "", (r, one) -> one),
                chunked("IncompleteBody", 400, "", (r, one) -> one.substring(0, 40)),
                chunked("IncompleteBody", 400, "", (r, one) -> one + r.chunk("") + CRC + "\r\n"),
                chunked("IncompleteBody", 400, "",
                        (r, one) -> one + r.chunk("") + "\r\nand more"),
                chunked("IncompleteBody", 400, "", (r, one) -> "f".repeat(16) + one.substring(1)),
                chunked("IncompleteBody", 400, "", (r, one) -> "f".repeat(17) + one.substring(1)),
                chunked("IncompleteBody", 400, "", (r, one) -> "50000000001" + one.substring(1)),
                chunked("IncompleteBody", 400, "", (r, one) -> "-5" + one.substring(1)),
                chunked("IncompleteBody", 400, "", (r, one) -> "+5" + one.substring(1)),
                chunked("IncompleteBody", 400, "", (r, one) -> " 5" + one.substring(1)),
                chunked("IncompleteBody", 400, "", (r, one) -> "0x5" + one.substring(1)),
                chunked("IncompleteBody", 400, "", (r, one) -> one.substring(1)),
                chunked("IncompleteBody", 400, "", (r, one) -> one.replaceFirst("\r\n", "\n")),
                chunked("IncompleteBody", 400, "", (r, one) -> "5;" + "e".repeat(20_000)),
                chunked("IncompleteBody", 400, crc, (r, one) -> one + r.chunk("") + "\r\n"),
                chunked("BadDigest", 400, crc, (r, one) -> one + r.chunk("")
                        + r.trailer("x-amz-checksum-crc32:AAAAAA==\r\n")),
                chunked("SignatureDoesNotMatch", 403, crc, (r, one) -> one + r.chunk("")
                        + r.trailer(CRC).replace("NhCmhg", "AAAAAA")),
                chunked("SignatureDoesNotMatch", 403, crc, (r, one) -> one + r.chunk("")
                        + CRC + "x-amz-trailer-signature:" + "0".repeat(64) + "\r\n\r\n"),
                chunked("MalformedTrailerError", 400, crc, (r, one) -> one + r.chunk("")
                        + r.trailer(CRC + "x-amz-other:1\r\n")),
                chunked("MalformedTrailerError", 400, crc,
                        (r, one) -> one + r.chunk("") + r.trailer(CRC + CRC)),
                chunked("MalformedTrailerError", 400, crc,
                        (r, one) -> one + r.chunk("") + r.trailer("")),
                chunked("MalformedTrailerError", 400, crc,
                        (r, one) -> one + r.chunk("") + r.trailer("no colon\r\n")),
                chunked("MalformedTrailerError", 400, crc, (r, one) -> one + r.chunk("")
                        + r.trailer("x-amz-checksum-crc32:" + "A".repeat(9000) + "\r\n")),
                chunked("InvalidRequest", 400, crc, (r, one) -> one + r.chunk("")
                        + r.trailer("x-amz-checksum-crc32:AAAA\r\n")),
                chunked("InvalidRequest", 400, crc, (r, one) -> one + r.chunk("")
                        + r.trailer("x-amz-checksum-crc32:NhCmhg\r\n")),
                chunked("IncompleteBody", 400, crc, (r, one) -> one + r.chunk("")
                        + r.trailer("x-amz-checksum-crc32:" + "A".repeat(20_000) + "\r\n")),
                chunked("InvalidRequest", 400, "x-amz-other", (r, one) -> one),
                chunked("InvalidRequest", 400, crc + ",x-amz-checksum-sha1", (r, one) -> one));
    }

    @ParameterizedTest
    @MethodSource({"sums", "chunks"})
    void aBodyThatIsNotWhatWasSaidCommitsNothing(Refusal refusal) {
        refused(refusal);
    }

    private static Refusal deletion(String name, String xml) {
        return new Refusal(name, new HandSigned("POST", "/b", "delete=").body(xml).head() + xml,
                400,
                "MalformedXML");
    }

    private static Refusal deletion(String xml) {
        return deletion(xml, xml);
    }

    static Stream<Refusal> documents() {
        String key = "<Object><Key>k</Key></Object>";
        StringBuilder laughs = new StringBuilder("<!DOCTYPE a [<!ENTITY x0 \"lol\">");
        for (int i = 1; i < 30; i++) {
            laughs.append("<!ENTITY x%d \"&x%d;&x%d;\">".formatted(i, i - 1, i - 1));
        }
        String tooLong = "x".repeat((4 << 20) + 1);
        return Stream.of(
                deletion("nothing", ""), deletion("x"), deletion("<Delete>"),
                deletion("<Delete></Delet>"),
                deletion("<!DOCTYPE Delete><Delete>" + key + "</Delete>"),
                deletion("<!DOCTYPE a SYSTEM \"file:///etc/passwd\"><Delete>" + key + "</Delete>"),
                deletion("<!DOCTYPE a [<!ENTITY x \"y\">]><Delete><Object><Key>a&x;</Key></Object>"
                        + "</Delete>"),
                deletion("<!DOCTYPE a [<!ENTITY x SYSTEM \"http://127.0.0.1:1/\">]><Delete><Object>"
                        + "<Key>&x;</Key></Object></Delete>"),
                deletion("a billion laughs", laughs
                        + "]><Delete><Object><Key>&x29;</Key></Object></Delete>"),
                deletion("<Delete><Object><Key>&x;</Key></Object></Delete>"),
                deletion("<Delete><Object><Key>a</Key><Key>b</Key></Object></Delete>"),
                deletion("<Delete><Object><Key>a</Key><VersionId>1</VersionId>"
                        + "<VersionId>2</VersionId></Object></Delete>"),
                deletion("<Delete><Object></Object></Delete>"),
                deletion("<Delete><Object><Key><Key>a</Key></Key></Object></Delete>"),
                deletion("<Delete>\0</Delete>"),
                deletion("deep", "<a>".repeat(100_000) + "</a>".repeat(100_000)),
                deletion("1001", "<Delete>" + key.repeat(1001) + "</Delete>"),
                new Refusal("4 MiB", new HandSigned("POST", "/b", "delete=").body(tooLong).head()
                        + tooLong, 400, "MaxMessageLengthExceeded"),
                deletion("attributes", "<Delete x" + "=\"\" y".repeat(20_000) + "/>"),
                deletion("<?xml version=\"1.0\" encoding=\"UTF-16\"?><Delete/>"),
                deletion("<?xml version=\"1.0\" encoding=\"no-such\"?><Delete/>"));
    }

    @ParameterizedTest
    @MethodSource("documents")
    void aDocumentThatTwoCouldReadDifferentlyIsRefused(Refusal refusal) {
        refused(refusal);
    }

    static Stream<Refusal> documentsWithoutWhatWasDeclared() {
        HandSigned post = new HandSigned("POST", "/b", "delete=");
        String large = "x".repeat(300_000);
        return Stream.of(
                new Refusal("another hash", new HandSigned("POST", "/b", "delete=")
                        .body("y".repeat(large.length()))
                        .head() + large, 400, "XAmzContentSHA256Mismatch"),
                new Refusal("another MD5", post.header("content-md5", "1B2M2Y8AsgTpgAmY7PhCfg==")
                        .body("<Delete/>")
                        .head() + "<Delete/>", 400, "BadDigest"));
    }

    @ParameterizedTest
    @MethodSource("documentsWithoutWhatWasDeclared")
    void aDocumentThatIsNotWhatWasSignedIsRefused(Refusal refusal) {
        refused(refusal);
    }
}
