package org.yunti.hadoop.runner.job;

import java.security.SecureRandom;
import org.apache.hadoop.mapred.JobConf;
import org.apache.hadoop.mapreduce.CryptoUtils;
import org.apache.hadoop.mapreduce.MRJobConfig;
import org.apache.hadoop.mapreduce.security.TokenCache;

/**
 * Key for map outputs that a job wants encrypted, which a cluster's master makes. One for all jobs of this JVM, because
 * Hadoop's tasks take it from the credentials of the user, and jobs that run at the same time have one user.
 */
final class SpillKey {
  private static byte[] key;

  private SpillKey() {}

  /** Adds the key to the credentials of a job that needs one. */
  static void add(JobConf conf) {
    if (CryptoUtils.isEncryptedSpillEnabled(conf)) {
      TokenCache.setEncryptedSpillKey(key(conf), conf.getCredentials());
    }
  }

  private static synchronized byte[] key(JobConf conf) {
    if (key == null) {
      key = new byte[conf.getInt(MRJobConfig.MR_ENCRYPTED_INTERMEDIATE_DATA_KEY_SIZE_BITS,
          MRJobConfig.DEFAULT_MR_ENCRYPTED_INTERMEDIATE_DATA_KEY_SIZE_BITS) / Byte.SIZE];
      new SecureRandom().nextBytes(key);
    }
    return key;
  }
}
