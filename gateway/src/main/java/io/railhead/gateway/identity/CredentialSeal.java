package io.railhead.gateway.identity;

import static java.nio.charset.StandardCharsets.US_ASCII;
import static java.nio.charset.StandardCharsets.UTF_8;

import io.railhead.gateway.config.ConfigException;
import io.railhead.gateway.s3.Digests;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.SecureRandom;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Base64;
import java.util.List;
import javax.crypto.AEADBadTagException;
import javax.crypto.Cipher;
import javax.crypto.Mac;
import javax.crypto.spec.GCMParameterSpec;
import javax.crypto.spec.SecretKeySpec;
import org.jspecify.annotations.Nullable;

/**
 * Turns role sessions into credentials and back. The session token is the session itself, sealed by
 * AES-256-GCM; access key and secret follow from the token's nonce and the gateways' key. So every
 * gateway with the same key takes them, also after a restart, and none stores them. Any thread.
 *
 * <p> A token's layout: a version, the key's id of 4 bytes, a nonce of 12, the sealed session. The
 * access key is authenticated with it: one session's token does not fit another's access key.
 */
final class CredentialSeal {
    /** The beginning of sessions' access keys. */
    static final String PREFIX = "RHS1";
    /** Longer tokens are none: the longest session policy and claims fit. */
    static final int MAX_TOKEN_CHARS = 8192;
    private static final byte VERSION = 1;
    private static final int KEY_BYTES = 32;
    private static final int KEY_ID_BYTES = 4;
    private static final int NONCE_BYTES = 12;
    private static final int HEAD_BYTES = 1 + KEY_ID_BYTES + NONCE_BYTES;
    private static final int TAG_BITS = 128;
    private static final int ACCESS_KEY_CHARS = 16;
    private static final int SECRET_CHARS = 40;
    private static final String ALPHABET = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567";
    private static final Base64.Encoder ENCODER = Base64.getUrlEncoder().withoutPadding();

    private final SecureRandom random = new SecureRandom();
    private volatile List<Key> keys;

    private record Key(int id, SecretKeySpec sealing, SecretKeySpec naming) {

        static Key of(byte[] master) {
            return new Key(ByteBuffer.wrap(Digests.sha256().digest(master)).getInt(),
                    new SecretKeySpec(hmac(master, "railhead session seal"), "AES"),
                    new SecretKeySpec(hmac(master, "railhead session name"), "HmacSHA256"));
        }
    }

    private CredentialSeal(List<Key> keys) {
        this.keys = keys;
    }

    /** A seal that nobody else has: its sessions end with this process. */
    static CredentialSeal random() {
        byte[] master = new byte[KEY_BYTES];
        new SecureRandom().nextBytes(master);
        return new CredentialSeal(List.of(Key.of(master)));
    }

    /** @param content a key a line, 32 bytes in base64; the first seals, all of them open */
    static CredentialSeal parse(Path file, byte[] content) throws ConfigException {
        List<Key> keys = new ArrayList<>();
        for (String line : new String(content, UTF_8).lines().map(String::strip).toList()) {
            if (!line.isEmpty() && !line.startsWith("#")) {
                keys.add(Key.of(master(file, line)));
            }
        }
        if (keys.isEmpty()) {
            throw fault(file);
        }
        return new CredentialSeal(List.copyOf(keys));
    }

    private static byte[] master(Path file, String line) throws ConfigException {
        try {
            byte[] master = Base64.getDecoder().decode(line);
            if (master.length == KEY_BYTES) {
                return master;
            }
        } catch (IllegalArgumentException e) {
            // The message must not repeat what may be a key.
        }
        throw fault(file);
    }

    private static ConfigException fault(Path file) {
        return new ConfigException("gateway.web_identity.session_keys: " + file
                + " must have a key of 32 bytes in base64 on each line; openssl rand -base64 32"
                + " makes one");
    }

    /** Returns what changes with the keys, and with nothing else. */
    Object generation() {
        return keys;
    }

    /** Takes the other's keys. Tokens that only a former key opens are none from now on. */
    void replace(CredentialSeal other) {
        keys = other.keys;
    }

    /** Returns new credentials that carry the session. */
    AccessKey seal(RoleSession session) {
        try {
            return seal(keys.getFirst(), session);
        } catch (AEADBadTagException e) {
            throw new IllegalStateException("only opening compares a tag", e);
        }
    }

    private AccessKey seal(Key key, RoleSession session) throws AEADBadTagException {
        byte[] nonce = new byte[NONCE_BYTES];
        random.nextBytes(nonce);
        ByteBuffer head = ByteBuffer.allocate(HEAD_BYTES).put(VERSION).putInt(key.id()).put(nonce);
        String accessKey = accessKey(key, nonce);
        byte[] sealed = crypt(Cipher.ENCRYPT_MODE, key, head.array(), accessKey,
                RoleSessionCodec.encode(session));
        byte[] token = ByteBuffer.allocate(HEAD_BYTES + sealed.length)
                .put(head.array())
                .put(sealed)
                .array();
        return new AccessKey(accessKey, secret(key, nonce),
                new Secret(ENCODER.encodeToString(token)),
                session);
    }

    /** Returns the credentials that the token carries; null if these are none of this seal's. */
    @Nullable
    AccessKey open(String accessKey, String token) {
        if (!accessKey.startsWith(PREFIX) || token.length() > MAX_TOKEN_CHARS) {
            return null;
        }
        try {
            byte[] bytes = Base64.getUrlDecoder().decode(token);
            // Base64 has several spellings of the same bytes; a token has one.
            if (bytes.length < HEAD_BYTES || bytes[0] != VERSION
                    || !ENCODER.encodeToString(bytes).equals(token)) {
                return null;
            }
            return open(accessKey, token, bytes);
        } catch (IllegalArgumentException | AEADBadTagException e) {
            return null;
        }
    }

    private @Nullable AccessKey open(String accessKey, String token, byte[] bytes)
            throws AEADBadTagException {
        byte[] head = Arrays.copyOf(bytes, HEAD_BYTES);
        byte[] nonce = Arrays.copyOfRange(bytes, 1 + KEY_ID_BYTES, HEAD_BYTES);
        for (Key key : keys) {
            if (key.id() == ByteBuffer.wrap(head).getInt(1)
                    && accessKey(key, nonce).equals(accessKey)) {
                byte[] session = crypt(Cipher.DECRYPT_MODE, key, head, accessKey,
                        Arrays.copyOfRange(bytes, HEAD_BYTES, bytes.length));
                return new AccessKey(accessKey, secret(key, nonce), new Secret(token),
                        RoleSessionCodec.decode(session));
            }
        }
        return null;
    }

    private static byte[] crypt(int mode, Key key, byte[] head, String accessKey,
            byte[] content) throws AEADBadTagException {
        try {
            Cipher cipher = Cipher.getInstance("AES/GCM/NoPadding");
            cipher.init(mode, key.sealing(), new GCMParameterSpec(TAG_BITS, head,
                    1 + KEY_ID_BYTES, NONCE_BYTES));
            cipher.updateAAD(head);
            cipher.updateAAD(accessKey.getBytes(US_ASCII));
            return cipher.doFinal(content);
        } catch (AEADBadTagException e) {
            throw e;
        } catch (GeneralSecurityException e) {
            throw new IllegalStateException(e);
        }
    }

    private static String accessKey(Key key, byte[] nonce) {
        byte[] bytes = hmac(key.naming(), "access key", nonce);
        StringBuilder name = new StringBuilder(PREFIX);
        for (int i = 0; i < ACCESS_KEY_CHARS; i++) {
            name.append(ALPHABET.charAt(bytes[i] & 31));
        }
        return name.toString();
    }

    private static Secret secret(Key key, byte[] nonce) {
        return new Secret(ENCODER.encodeToString(hmac(key.naming(), "secret key", nonce))
                .substring(0, SECRET_CHARS));
    }

    private static byte[] hmac(byte[] key, String label) {
        return hmac(new SecretKeySpec(key, "HmacSHA256"), label, new byte[0]);
    }

    private static byte[] hmac(SecretKeySpec key, String label, byte[] data) {
        try {
            Mac mac = Mac.getInstance("HmacSHA256");
            mac.init(key);
            mac.update(label.getBytes(US_ASCII));
            return mac.doFinal(data);
        } catch (GeneralSecurityException e) {
            throw new IllegalStateException(e);
        }
    }
}
