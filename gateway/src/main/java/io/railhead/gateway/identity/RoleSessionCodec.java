package io.railhead.gateway.identity;

import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.time.Instant;
import java.util.LinkedHashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** The bytes of a role session, as short as it goes: each request carries them. */
final class RoleSessionCodec {

    private RoleSessionCodec() {}

    static byte[] encode(RoleSession session) {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        try (DataOutputStream out = new DataOutputStream(bytes)) {
            out.writeUTF(session.role());
            out.writeLong(session.issuer());
            out.writeUTF(session.name());
            out.writeUTF(session.subject());
            out.writeInt((int) session.issuedAt().getEpochSecond());
            out.writeInt((int) session.expiresAt().getEpochSecond());
            out.writeByte(session.claims().size());
            for (Map.Entry<String, String> claim : session.claims().entrySet()) {
                out.writeUTF(claim.getKey());
                out.writeUTF(claim.getValue());
            }
            String policy = session.policy();
            out.writeUTF(policy == null ? "" : policy);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        return bytes.toByteArray();
    }

    /** @param bytes by {@link #encode}: the seal has shown it */
    static RoleSession decode(byte[] bytes) {
        try (DataInputStream in = new DataInputStream(new ByteArrayInputStream(bytes))) {
            String role = in.readUTF();
            long issuer = in.readLong();
            String name = in.readUTF();
            String subject = in.readUTF();
            Instant issuedAt = seconds(in);
            Instant expiresAt = seconds(in);
            Map<String, String> claims = new LinkedHashMap<>();
            for (int left = in.readUnsignedByte(); left > 0; left--) {
                claims.put(in.readUTF(), in.readUTF());
            }
            return new RoleSession(role, issuer, name, subject, issuedAt, expiresAt, claims,
                    policy(in));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static @Nullable String policy(DataInputStream in) throws IOException {
        String policy = in.readUTF();
        return policy.isEmpty() ? null : policy;
    }

    /** Unsigned, so that it holds until 2106. */
    private static Instant seconds(DataInputStream in) throws IOException {
        return Instant.ofEpochSecond(Integer.toUnsignedLong(in.readInt()));
    }
}
