package io.railhead.cli.site;

import io.railhead.cli.reading.Manifest;
import io.railhead.client.ListedObject;
import io.railhead.client.ObjectName;
import io.railhead.client.Progress;
import io.railhead.client.RailheadClient;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.function.Consumer;

/** A user's bucket, which is only listed and read. Blocks. */
final class StoredObjects {
    private static final double MIB = 1 << 20;
    private static final long SAY_NANOS = 2_000_000_000L;

    private final RailheadClient client;
    private final String bucket;
    private final Consumer<String> say;

    /** @param client a client of the store itself with one stream, so that parts come in order */
    StoredObjects(RailheadClient client, String bucket, Consumer<String> say) {
        this.client = client;
        this.bucket = bucket;
        this.say = say;
    }

    /** Ends a listing: the client has no other way. */
    private static final class Enough extends RuntimeException {
        private static final long serialVersionUID = 1L;

        Enough() {
            super("enough", null, false, false);
        }
    }

    Choice choose(String prefix, long mostBytes, int mostObjects) throws IOException {
        Choice choice = new Choice(mostBytes, mostObjects);
        try {
            client.list(bucket, prefix, object -> {
                choice.offer(object);
                if (choice.isOver()) {
                    throw new Enough();
                }
            });
        } catch (Enough e) {
            // The rest of the bucket does not matter.
        }
        if (choice.taken().isEmpty()) {
            String where = "s3://" + bucket + "/" + prefix;
            throw new IOException(choice.tooLarge() == 0
                    ? "there is no object with any bytes in " + where
                    : "each object looked at in " + where + " is larger than --bytes");
        }
        return choice;
    }

    /** Reads each object once, to learn what later readings must deliver. */
    Manifest digest(Choice choice) throws IOException {
        List<Manifest.Entry> entries = new ArrayList<>();
        long done = 0;
        long said = System.nanoTime();
        for (ListedObject object : choice.taken()) {
            entries.add(digest(object));
            done += object.bytes();
            if (System.nanoTime() - said > SAY_NANOS) {
                said = System.nanoTime();
                say.accept(String.format(Locale.ROOT, "  %.0f of %.0f MiB, %s", done / MIB,
                        choice.bytes() / MIB, object.key()));
            }
        }
        return new Manifest(bucket, entries);
    }

    private Manifest.Entry digest(ListedObject object) throws IOException {
        List<String> digests = new ArrayList<>();
        long bytes = client.get(new ObjectName(bucket, object.key()),
                (_, part) -> digests.add(Manifest.sha256(part)), Progress.NONE).bytes();
        if (bytes != object.bytes()) {
            throw new IOException(object.key() + " is changing: listed with " + object.bytes()
                    + " bytes, read with " + bytes);
        }
        return new Manifest.Entry(object.key(), bytes, digests);
    }
}
