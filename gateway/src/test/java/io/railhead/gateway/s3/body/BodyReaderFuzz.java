package io.railhead.gateway.s3.body;

import static java.nio.charset.StandardCharsets.US_ASCII;

import io.railhead.gateway.identity.TestCredentials;
import io.railhead.gateway.s3.S3Refusal;
import io.railhead.gateway.s3.sigv4.Authenticator;
import io.railhead.gateway.s3.sigv4.SdkRequests;
import io.railhead.gateway.s3.sigv4.SdkRequests.Wire;
import java.io.ByteArrayOutputStream;
import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.Map;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import software.amazon.awssdk.checksums.DefaultChecksumAlgorithm;
import software.amazon.awssdk.http.SdkHttpMethod;
import software.amazon.awssdk.http.auth.aws.signer.AwsV4FamilyHttpSigner;

/**
 * Bodies in aws-chunks behind a head that is good. The first byte chooses whether chunks are
 * signed, and how large the pieces are that the rest arrives in: it must not matter. What is taken
 * is what was declared, and signed.
 */
public final class BodyReaderFuzz {
    static final byte[] BODY = "The quick brown fox jumps over the lazy dog, twice a day"
            .getBytes(US_ASCII);
    private static final Authenticator AUTHENTICATOR = new Authenticator(TestCredentials.store());
    private static final Wire SIGNED = wire(true);
    private static final Wire UNSIGNED = wire(false);

    private BodyReaderFuzz() {}

    static Wire wire(boolean signed) {
        return SdkRequests.sign(SdkHttpMethod.PUT, "/b/k",
                Map.of("Content-Length", Integer.toString(BODY.length)), BODY,
                options -> options
                        .putProperty(AwsV4FamilyHttpSigner.PAYLOAD_SIGNING_ENABLED, signed)
                        .putProperty(AwsV4FamilyHttpSigner.CHUNK_ENCODING_ENABLED, true)
                        .putProperty(AwsV4FamilyHttpSigner.CHECKSUM_ALGORITHM,
                                DefaultChecksumAlgorithm.SHA256));
    }

    public static void fuzzerTestOneInput(byte[] input) {
        if (input.length == 0) {
            return;
        }
        Wire wire = (input[0] & 1) == 0 ? SIGNED : UNSIGNED;
        int pieces = 1 + (input[0] & 0xff) / 2;
        byte[] body = Arrays.copyOfRange(input, 1, input.length);
        Object whole = read(wire, body, body.length + 1);
        Object inPieces = read(wire, body, pieces);
        if (whole instanceof byte[] taken) {
            // Nobody finds another body of this SHA-256.
            require(Arrays.equals(taken, BODY));
            require(inPieces instanceof byte[] again && Arrays.equals(again, taken));
        } else {
            require(whole.equals(inPieces));
        }
    }

    /** The bytes, or the code they are refused with. */
    private static Object read(Wire wire, byte[] body, int pieceBytes) {
        BodyReader reader = BodyReader.open(
                AUTHENTICATOR.authenticate(wire.head(), SdkRequests.NOW), wire.head().headers());
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        Consumer<ByteBuffer> sink = piece -> {
            byte[] bytes = new byte[piece.remaining()];
            piece.get(bytes);
            out.writeBytes(bytes);
        };
        S3Refusal refusal = requireRefusalOrNone(() -> {
            for (int at = 0; at < body.length; at += pieceBytes) {
                reader.accept(ByteBuffer.wrap(Arrays.copyOfRange(body, at,
                        Math.min(body.length, at + pieceBytes))), sink);
            }
            reader.end(sink);
        });
        if (refusal == null) {
            return out.toByteArray();
        }
        // What was handed on never looks whole.
        require(out.size() < BODY.length);
        return refusal.error().code();
    }

    /** Runs it; a refusal must be the client's fault, and nothing else may be thrown. */
    public static @Nullable S3Refusal requireRefusalOrNone(Runnable step) {
        try {
            step.run();
            return null;
        } catch (S3Refusal e) {
            require(e.status() >= 400 && e.status() < 500);
            return e;
        }
    }

    private static void require(boolean kept) {
        if (!kept) {
            throw new AssertionError();
        }
    }
}
