package io.railhead.benchmarks.peers;

import static java.nio.charset.StandardCharsets.ISO_8859_1;

import java.security.DigestException;
import java.security.MessageDigest;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.ThreadLocalRandom;
import javax.crypto.Mac;
import javax.crypto.ShortBufferException;

/**
 * A GET that is signed each time under a new request id, since a gateway refuses a token's second
 * use under one signature. Unchanged parts are built once. One thread.
 */
final class TokenRequest {
    private static final String ID = "x-railhead-request-id";
    private static final String PLACE = "f".repeat(32);
    private static final byte[] DIGITS = "0123456789abcdef".getBytes(ISO_8859_1);
    private static final int HASH_BYTES = 32;

    private final MessageDigest sha256 = SigV4.sha256();
    private final Mac mac;
    private final byte[] canonical;
    private final int idInCanonical;
    private final byte[] stringToSign;
    private final byte[] head;
    private final int idInHead;
    private final int signatureInHead;
    private final byte[] hash = new byte[HASH_BYTES];

    TokenRequest(SigV4 signer, String path, Map<String, String> headers) {
        Map<String, String> all = new TreeMap<>(headers);
        all.put(ID, PLACE);
        SigV4.Signed once = signer.sign("GET", path, "", all);
        mac = signer.signingKey().mac();
        canonical = once.canonical().getBytes(ISO_8859_1);
        idInCanonical = once.canonical().indexOf(PLACE);
        stringToSign = once.stringToSign().getBytes(ISO_8859_1);
        head = once.bytes();
        idInHead = once.head().indexOf(PLACE);
        signatureInHead = once.head().indexOf(once.signature());
    }

    /** Returns the next request from its first byte; valid until the call after this. */
    byte[] next() {
        ThreadLocalRandom random = ThreadLocalRandom.current();
        hex(random.nextLong(), canonical, idInCanonical);
        hex(random.nextLong(), canonical, idInCanonical + 16);
        System.arraycopy(canonical, idInCanonical, head, idInHead, PLACE.length());
        try {
            sha256.update(canonical);
            sha256.digest(hash, 0, HASH_BYTES);
            hex(hash, stringToSign, stringToSign.length - 2 * HASH_BYTES);
            mac.update(stringToSign);
            mac.doFinal(hash, 0);
        } catch (DigestException | ShortBufferException e) {
            throw new IllegalStateException("SHA-256 has 32 bytes", e);
        }
        hex(hash, head, signatureInHead);
        return head;
    }

    private static void hex(long value, byte[] to, int at) {
        for (int i = 0; i < 16; i++) {
            to[at + i] = DIGITS[(int) (value >>> (60 - 4 * i)) & 15];
        }
    }

    private static void hex(byte[] from, byte[] to, int at) {
        for (int i = 0; i < from.length; i++) {
            to[at + 2 * i] = DIGITS[(from[i] >> 4) & 15];
            to[at + 2 * i + 1] = DIGITS[from[i] & 15];
        }
    }
}
