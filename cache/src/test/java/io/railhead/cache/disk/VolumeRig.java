package io.railhead.cache.disk;

import io.railhead.os.BlockFile;
import io.railhead.os.Mapping;
import java.lang.foreign.MemorySegment;
import java.security.SecureRandom;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.BooleanSupplier;
import java.util.zip.CRC32C;
import org.jspecify.annotations.Nullable;

/** A volume of small segments without threads, and pages whose bytes follow from their name. */
final class VolumeRig implements AutoCloseable {
    static final int PAGE = 16 << 10;
    static final int SEGMENTS = 6;
    static final long SEGMENT = 128 << 10;
    static final int FOOTER = 8 << 10;
    static final long SIZE = (1 << 20) + SEGMENTS * SEGMENT + 4096;

    final DiskVolume volume;
    final SegmentWriter writer;
    final List<PageCipher.Context> encrypted = new ArrayList<>();
    private String tenant = "tenant";
    final EvictionLog log;
    /** The age of evictions. */
    final AtomicLong clock = new AtomicLong(System.nanoTime());
    private final Mapping memory = Mapping.anonymous(2L * PAGE);

    VolumeRig(BlockFile file) throws DiskRefusedException {
        this(file, Map.of());
    }

    VolumeRig(BlockFile file, Map<String, DiskConfig.Share> tenants)
            throws DiskRefusedException {
        this(file, tenants, null);
    }

    VolumeRig(BlockFile file, @Nullable WrappingKeys keys) throws DiskRefusedException {
        this(file, Map.of(), keys);
    }

    private VolumeRig(BlockFile file, Map<String, DiskConfig.Share> tenants,
            @Nullable WrappingKeys keys) throws DiskRefusedException {
        volume = DiskVolume.of(file,
                new VolumeOpening(file, "disk", new SecureRandom(), keys).open(layout(SIZE, PAGE)),
                tenants);
        volume.recover(() -> false);
        writer = new SegmentWriter(volume, clock::get, new Recording());
        log = new EvictionLog("disk", volume, () -> Long.MAX_VALUE, clock::get);
    }

    /** Ends this volume, and opens it again from a disk; without order its open segment is lost. */
    VolumeRig reopen(BlockFile file, boolean orderly) throws DiskRefusedException {
        if (orderly) {
            writer.seal();
        }
        close();
        return new VolumeRig(file);
    }

    /** Evicts by name, and returns whether a crash from now on cannot undo it. */
    boolean evict(EvictedNames names) {
        CompletableFuture<Boolean> recorded = log.add(names);
        log.write(null);
        return recorded.join();
    }

    boolean evict(int number) {
        return evict(new EvictedNames("bucket", "key-" + number, EvictedNames.Kind.KEY));
    }

    static DiskLayout layout(long size, int pageBytes) {
        return new DiskLayout(size, SEGMENT, FOOTER, pageBytes);
    }

    static VersionName name(int number) {
        return new VersionName("store", "account", "bucket", "key-" + number, "",
                "\"etag-" + number + "\"", "", lengthOf(number));
    }

    /** Short pages, and some of full length. */
    static int lengthOf(int number) {
        return number % 4 == 0 ? PAGE : 1 + new Random(number).nextInt(PAGE);
    }

    static byte[] bytes(int number) {
        byte[] bytes = new byte[lengthOf(number)];
        new Random(~number).nextBytes(bytes);
        return bytes;
    }

    VersionName.Digest digest(int number) {
        return name(number).digest(volume.superblock.secret().bytes());
    }

    PageIdentity identity(int number) {
        return digest(number).page(0);
    }

    boolean write(int number) {
        return write(number, bytes(number));
    }

    boolean write(int number, byte[] bytes) {
        // The memory behind the page must not reach the disk.
        MemorySegment page = memory.segment().asSlice(0, PAGE).fill((byte) 'x');
        page.copyFrom(MemorySegment.ofArray(bytes));
        CRC32C crc = new CRC32C();
        crc.update(bytes);
        return writer.write(offered(number, (int) crc.getValue(), page.asSlice(0, bytes.length),
                () -> true)) == null;
    }

    /** Notes what is encrypted, and how. */
    private final class Recording extends PageCipher {
        Recording() {
            super(PAGE);
        }

        @Override
        MemorySegment encrypt(Context context, List<MemorySegment> page) {
            encrypted.add(context);
            return super.encrypt(context, page);
        }

        @Override
        byte[] encrypt(Context context, byte[] plain) {
            encrypted.add(context);
            return super.encrypt(context, plain);
        }
    }

    /** Writes as another tenant from now on. */
    VolumeRig as(String another) {
        tenant = another;
        return this;
    }

    SegmentWriter.Offered offered(int number, int crc, MemorySegment page,
            BooleanSupplier current) {
        return new SegmentWriter.Offered(volume.tenant(tenant), identity(number), digest(number),
                crc, List.of(page),
                volume.tombstones.number(), current);
    }

    /** Returns the page's bytes; null if they cannot be had. */
    byte @Nullable [] read(int number) {
        PageIdentity identity = identity(number);
        DiskIndex.Place place = volume.find(digest(number), identity);
        MemorySegment into = memory.segment().asSlice(PAGE, PAGE);
        return place == null
                || volume.read(identity, place, List.of(into.asSlice(0,
                        (long) DiskLayout.unitsOf(place.length())
                                * DiskLayout.UNIT_BYTES))) != PageReader.Outcome.RIGHT
                                        ? null
                                        : into.asSlice(0, place.length())
                                                .toArray(java.lang.foreign.ValueLayout.JAVA_BYTE);
    }

    @Override
    public void close() {
        writer.close();
        volume.close();
        memory.close();
    }
}
