package io.railhead.client;

import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Executor;
import java.util.function.Consumer;

/**
 * An S3 client for a node: reads and writes objects over HTTP with any store, or one-sided with a
 * gateway. Any thread; its owner closes it. What returns no stage blocks.
 *
 * <p> A method returns, and a stage completes, only when every byte is where it should be, of one
 * version of the object, with the length that the store named; anything else is an
 * {@link IOException}, {@link S3Exception} where the store said why. Sessions are opened as they
 * are needed, and again where they ended; reads are then repeated by themselves.
 */
public final class RailheadClient implements AutoCloseable {
    private static final int READ_PART_BYTES = 8 << 20;
    private static final long WRITE_PART_BYTES = 16L << 20;
    private static final int LIST_PAGE = 1000;

    private final S3Http http;
    private final Executor blocking = task -> Thread.ofVirtual()
            .name("railhead-client")
            .start(task);
    private final PathCounters pathCounters;
    private final PartTransport transport;
    private final Streams streams;
    private final ObjectReader reader;
    private final FileDownload download;
    private final ObjectWriter writer;

    RailheadClient(ClientConfig config, FabricConnector fabricConnector) {
        http = new S3Http(config);
        streams = new Streams(config.streams());
        pathCounters = new PathCounters(config.via(), config.fallback());
        transport = transport(config, fabricConnector);
        reader = new ObjectReader(transport, streams, READ_PART_BYTES);
        download = new FileDownload(reader,
                new ObjectReader(transport, new Streams(1), READ_PART_BYTES), transport);
        writer = new ObjectWriter(http, transport, streams, WRITE_PART_BYTES);
    }

    private PartTransport transport(ClientConfig config, FabricConnector fabricConnector) {
        HttpParts overHttp = new HttpParts(http, READ_PART_BYTES, blocking,
                config.streams(), pathCounters);
        if (config.via() == Via.HTTP) {
            return overHttp;
        }
        Sessions sessions = new Sessions(http, fabricConnector, config.timeout());
        // One more than there are threads: the next part is on its way while one is looked at.
        Windows windows = new Windows(sessions::allocate, READ_PART_BYTES, config.streams() + 1);
        return config.via() == Via.TOKEN
                ? new TokenParts(http, overHttp, sessions, windows, pathCounters)
                : new ChannelParts(overHttp, sessions,
                        new ChannelRequests(sessions, blocking, config.timeout()), windows,
                        pathCounters);
    }

    /** No byte is sent before the first request. */
    public static RailheadClient connect(ClientConfig config) {
        return new RailheadClient(config,
                config.via() == Via.VERBS ? VerbsConnector.INSTANCE : LoopbackConnector.INSTANCE);
    }

    /**
     * Reads into a file that appears, or replaces an older one, only when complete. Symbolic links
     * are followed. A device, a FIFO or an open descriptor is written to instead, in order.
     */
    public ObjectInfo get(ObjectName name, Path file, Progress progress) throws IOException {
        return download.get(name, file, progress);
    }

    /**
     * The same in as many calls as it takes: what has come when one fails, or its process is
     * killed, stays beside the file under names that begin with a dot, and is not read again while
     * the object is the same version. A part of 8 MiB counts once it is whole.
     *
     * @throws IOException also where another call is at work on that file
     */
    public ObjectInfo resume(ObjectName name, Path file, Progress progress) throws IOException {
        return download.resume(name, file, progress);
    }

    /** Reads part by part into {@code sink}; see there for order and threads. */
    public ObjectInfo get(ObjectName name, PartSink sink, Progress progress) throws IOException {
        return reader.read(name, sink, progress);
    }

    /**
     * Memory that objects can be delivered into, zeroed: over loopback a gateway on this host maps
     * it, with RDMA the adapter has it pinned.
     *
     * @throws RuntimeException where there is no such memory
     */
    public RegisteredBuffer register(long bytes) {
        return transport.register(bytes);
    }

    /**
     * Reads a range into registered memory, with no copy in between. The range of the buffer is the
     * gateway's until the stage has completed, however it completes, but for a
     * {@link MemoryHeldException}: then it stays the gateway's. What depends on the stage may run
     * on a thread that others wait for: it must not block.
     */
    public CompletionStage<Part> get(Read read) {
        return transport.read(List.of(read)).getFirst();
    }

    /** Asks for all in as few messages as they fit into; see {@link #get(Read)}. */
    public List<? extends CompletionStage<Part>> getAll(List<Read> reads) {
        return transport.read(reads);
    }

    public ObjectInfo head(ObjectName name) throws IOException {
        return transport.head(name).info();
    }

    /**
     * Stores a file. What has no size, such as a FIFO or a file of {@code /proc}, is read to its
     * end, as a stream is.
     *
     * @throws OutcomeUnknownException where no answer came: the object may be stored
     */
    public ObjectInfo put(Path file, ObjectName name, Progress progress) throws IOException {
        return writer.put(file, name, progress);
    }

    /**
     * Stores what a stream gives until its end: more than a part of 16 MiB as an upload of parts,
     * each of which is held in the heap until it is stored. The stream is read by several threads,
     * one at a time, and is not closed.
     *
     * @throws OutcomeUnknownException where no answer came: the object may be stored
     */
    public ObjectInfo put(InputStream content, ObjectName name, Progress progress)
            throws IOException {
        return writer.put(content, name, progress);
    }

    /**
     * The same in as many calls as it takes: a file that is stored in parts keeps its upload at the
     * store when one fails, or its process is killed. Which one it is, and of which state of the
     * file, stays beside the file under a name that begins with a dot, for each endpoint and object
     * its own. The next call sends what the store does not have: a part counts where its size and
     * its checksum, or its ETag as an MD5, are the file's. A file that was changed is stored anew
     * and its upload aborted.
     *
     * @throws UnfinishedUploadException where there is an upload to go on with
     * @throws IOException also where what is to be stored has no size, or another call is at work
     *             on that file
     */
    public ObjectInfo resumePut(Path file, ObjectName name, Progress progress)
            throws IOException {
        return writer.resume(file, name, progress);
    }

    /**
     * Has the gateway bring an object into its cache, with the rights and within the limits of who
     * asks. Returns when it is there, or is known not to come.
     */
    public Prefetched prefetch(ObjectName name) throws IOException {
        return new Prefetching(http).prefetch(name);
    }

    /** Creates a bucket. */
    public void createBucket(String bucket) throws IOException {
        new Listings(http).create(bucket);
    }

    public void listBuckets(Consumer<ListedBucket> found) throws IOException {
        new Listings(http).buckets(found);
    }

    /** All objects whose keys start with {@code prefix}, in the store's order. */
    public void list(String bucket, String prefix, Consumer<ListedObject> found)
            throws IOException {
        new Listings(http).objects(bucket, prefix, LIST_PAGE, found);
    }

    /** How many parts, read or written, were asked for one-sided and are done. */
    public long parts() {
        return pathCounters.parts();
    }

    /** How many of {@link #parts} went over HTTP all the same, by the reason. */
    public Map<String, Long> declines() {
        return pathCounters.declines();
    }

    /**
     * How many parts were read by what the gateway's cache had to do with them: {@code hit},
     * {@code miss}, {@code revalidated}, {@code stale}, {@code bypass} or {@code none}. Nothing of
     * what a store without a gateway answered.
     */
    public Map<String, Long> cacheResults() {
        return pathCounters.cacheResults();
    }

    @Override
    public void close() {
        streams.close();
        transport.close();
        http.close();
    }
}
