package io.railhead.backend.testing;

import io.railhead.backend.Caller;
import io.railhead.backend.testing.ScriptedStore.Received;
import java.net.URLDecoder;
import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import java.security.MessageDigest;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.List;
import java.util.Locale;
import java.util.stream.Collectors;
import javax.crypto.Mac;
import javax.crypto.spec.SecretKeySpec;

/**
 * SigV4 as a store computes it: from the bytes that arrived, by code that has nothing in common
 * with the signer.
 */
public final class StoreSignature {
    private StoreSignature() {}

    /** The signature that the request came with. */
    public static String sent(Received request) {
        return authorization(request, "Signature");
    }

    /** The one that it should have come with, if the secret is this one. */
    public static String expected(Received request, Caller.Credential credential) {
        String scope = authorization(request, "Credential")
                .substring(credential.accessKey().length() + 1);
        String stringToSign = String.join("\n", "AWS4-HMAC-SHA256",
                header(request, "x-amz-date"), scope,
                hex(sha256(canonical(request).getBytes(StandardCharsets.ISO_8859_1))));
        byte[] key = ("AWS4" + credential.secretKey()).getBytes(StandardCharsets.UTF_8);
        for (String part : scope.split("/", -1)) {
            key = hmac(key, part);
        }
        return hex(hmac(key, stringToSign));
    }

    public static List<String> signedHeaders(Received request) {
        return List.of(authorization(request, "SignedHeaders").split(";", -1));
    }

    private static String canonical(Received request) {
        String[] line = request.line().split(" ", -1);
        String[] target = line[1].split("\\?", 2);
        String headers = signedHeaders(request).stream()
                .map(name -> name + ":" + values(request, name) + "\n")
                .collect(Collectors.joining());
        return String.join("\n", line[0], path(target[0]),
                target.length == 1 ? "" : query(target[1]), headers,
                authorization(request, "SignedHeaders"), header(request, "x-amz-content-sha256"));
    }

    private static String path(String raw) {
        return Arrays.stream(raw.split("/", -1))
                .map(segment -> encode(decode(segment.replace("+", "%2B"))))
                .collect(Collectors.joining("/"));
    }

    private static String query(String raw) {
        return Arrays.stream(raw.split("&", -1))
                .map(part -> part.split("=", 2))
                .map(pair -> encode(decode(pair[0])) + "="
                        + (pair.length == 1 ? "" : encode(decode(pair[1]))))
                .sorted()
                .collect(Collectors.joining("&"));
    }

    private static String decode(String text) {
        return URLDecoder.decode(text, StandardCharsets.UTF_8);
    }

    private static String encode(String text) {
        return URLEncoder.encode(text, StandardCharsets.UTF_8)
                .replace("+", "%20")
                .replace("*", "%2A")
                .replace("%7E", "~");
    }

    private static String values(Received request, String name) {
        return request.headers()
                .stream()
                .filter(line -> line.toLowerCase(Locale.ROOT).startsWith(name + ":"))
                .map(line -> line.substring(name.length() + 1).strip().replaceAll(" +", " "))
                .collect(Collectors.joining(","));
    }

    private static String authorization(Received request, String field) {
        String value = header(request, "Authorization");
        int start = value.indexOf(field + "=") + field.length() + 1;
        int end = value.indexOf(',', start);
        return end < 0 ? value.substring(start) : value.substring(start, end);
    }

    private static String header(Received request, String name) {
        String value = request.header(name);
        if (value == null) {
            throw new AssertionError("no " + name + " in " + request.headers());
        }
        return value;
    }

    public static String hex(byte[] bytes) {
        return HexFormat.of().formatHex(bytes);
    }

    public static byte[] sha256(byte[] bytes) {
        try {
            return MessageDigest.getInstance("SHA-256").digest(bytes);
        } catch (GeneralSecurityException e) {
            throw new AssertionError(e);
        }
    }

    private static byte[] hmac(byte[] key, String text) {
        try {
            Mac mac = Mac.getInstance("HmacSHA256");
            mac.init(new SecretKeySpec(key, "HmacSHA256"));
            return mac.doFinal(text.getBytes(StandardCharsets.UTF_8));
        } catch (GeneralSecurityException e) {
            throw new AssertionError(e);
        }
    }
}
