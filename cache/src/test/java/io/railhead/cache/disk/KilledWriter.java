package io.railhead.cache.disk;

import io.railhead.os.DirectFile;

/** A process that writes pages until it is killed, and says which segments are sealed. */
final class KilledWriter {
    private KilledWriter() {}

    /** @param args the file, and the number of the first page */
    public static void main(String[] args) throws DiskRefusedException {
        try (VolumeRig rig = new VolumeRig(DirectFile.open(args[0], VolumeRig.SIZE))) {
            long sealed = 0;
            for (int number = Integer.parseInt(args[1]); true; number++) {
                rig.write(number);
                if (rig.writer.sealed.sum() != sealed) {
                    sealed = rig.writer.sealed.sum();
                    // This page was the first behind the sealed ones.
                    System.out.println(number + ".");
                    System.out.flush();
                }
            }
        }
    }
}
