package io.railhead.gateway.s3.body;

import com.dynatrace.hash4j.hashing.ByteAccess;
import com.dynatrace.hash4j.hashing.HashStream128;
import com.dynatrace.hash4j.hashing.HashStream64;
import com.dynatrace.hash4j.hashing.HashValue128;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;

/** XXHash checksums in their canonical, big-endian form. */
sealed interface XxHash extends BodyChecksum.Running {

    HashStream64 stream();

    @Override
    default void add(ByteBuffer bytes) {
        ByteBuffer slice = bytes.slice().order(ByteOrder.LITTLE_ENDIAN);
        stream().putBytes(slice, 0, slice.remaining(),
                ByteAccess.forByteBuffer(ByteOrder.LITTLE_ENDIAN));
    }

    /** XXH64 and the 64-bit XXH3. */
    record Of64(HashStream64 stream) implements XxHash {
        @Override
        public byte[] finish() {
            return ByteBuffer.allocate(Long.BYTES).putLong(stream.getAsLong()).array();
        }
    }

    /** The 128-bit XXH3. */
    record Of128(HashStream128 stream) implements XxHash {
        @Override
        public byte[] finish() {
            HashValue128 value = stream.get();
            return ByteBuffer.allocate(2 * Long.BYTES)
                    .putLong(value.getMostSignificantBits())
                    .putLong(value.getLeastSignificantBits())
                    .array();
        }
    }
}
