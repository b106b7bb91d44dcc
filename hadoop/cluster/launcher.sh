#!/bin/sh
# Commands hadoop, hdfs, yarn and mapred of a distribution, run inside the namespace of the cluster that owns this bin/.
# They keep the caller's folder, environment, input, output, exit code and signals.
#
#   in-cluster COMMAND ..    any other program: in-cluster curl http://localhost:8088/cluster
set -f # class paths contain stars
name=$(basename "$0")
cluster=$(dirname "$(dirname "$(readlink -f "$0")")")
# Sets class_path, java_home and mark.
. "$cluster/launcher.settings"

fail() { # MESSAGE EXIT_CODE
  echo "$name: $1" >&2
  exit "$2"
}

# ---- the namespace ----

# Replaces this process by a command inside the namespace. Sets pid and namespace.
enter() {
  [ -f "$cluster/run/namespace" ] || fail 'the cluster is not running: make cluster-up' 1
  . "$cluster/run/namespace"
  if [ "$(readlink /proc/self/ns/net)" = "$namespace" ]; then
    exec "$@"
  fi
  # A process with this pid in another namespace does not belong to the cluster.
  [ "$(readlink "/proc/$pid/ns/net")" = "$namespace" ] ||
    fail 'the cluster is not running, or belongs to another user: make cluster-down, make cluster-up' 1
  export "$mark=$cluster"
  if [ "$(id -u)" = 0 ]; then
    exec nsenter --target "$pid" --net --uts -- "$@"
  fi
  exec nsenter --target "$pid" --user --preserve-credentials --net --uts -- "$@"
}

# ---- sub-commands ----

hdfs_tools=org.apache.hadoop.hdfs.tools
yarn_cli=org.apache.hadoop.yarn.client.cli

# Prints the class of a sub-command, or nothing if the command is unknown.
class_of() { # COMMAND
  case "$name $1" in
    'hadoop jar' | 'yarn jar') echo org.apache.hadoop.util.RunJar ;;
    'hadoop fs' | 'hadoop dfs' | 'hdfs dfs') echo org.apache.hadoop.fs.FsShell ;;
    *' classpath') echo org.apache.hadoop.util.Classpath ;;
    *' version') echo org.apache.hadoop.util.VersionInfo ;;
    'hadoop checknative') echo org.apache.hadoop.util.NativeLibraryChecker ;;
    'hadoop conftest') echo org.apache.hadoop.util.ConfTest ;;
    'hadoop credential') echo org.apache.hadoop.security.alias.CredentialShell ;;
    'hadoop key') echo org.apache.hadoop.crypto.key.KeyShell ;;
    'hadoop daemonlog' | 'yarn daemonlog') echo org.apache.hadoop.log.LogLevel ;;

    'hdfs dfsadmin') echo $hdfs_tools.DFSAdmin ;;
    'hdfs fsck') echo $hdfs_tools.DFSck ;;
    'hdfs getconf') echo $hdfs_tools.GetConf ;;
    'hdfs groups') echo $hdfs_tools.GetGroups ;;
    'hdfs haadmin') echo $hdfs_tools.DFSHAAdmin ;;
    'hdfs storagepolicies') echo $hdfs_tools.StoragePolicyAdmin ;;
    'hdfs cacheadmin') echo $hdfs_tools.CacheAdmin ;;
    'hdfs crypto') echo $hdfs_tools.CryptoAdmin ;;
    'hdfs ec') echo $hdfs_tools.ECAdmin ;;
    'hdfs debug') echo $hdfs_tools.DebugAdmin ;;
    'hdfs lsSnapshottableDir') echo $hdfs_tools.snapshot.LsSnapshottableDir ;;
    'hdfs snapshotDiff') echo $hdfs_tools.snapshot.SnapshotDiff ;;
    'hdfs oiv') echo $hdfs_tools.offlineImageViewer.OfflineImageViewerPB ;;
    'hdfs oev') echo $hdfs_tools.offlineEditsViewer.OfflineEditsViewer ;;
    'hdfs namenode') echo org.apache.hadoop.hdfs.server.namenode.NameNode ;;
    'hdfs datanode') echo org.apache.hadoop.hdfs.server.datanode.DataNode ;;
    'hdfs balancer') echo org.apache.hadoop.hdfs.server.balancer.Balancer ;;
    'hdfs mover') echo org.apache.hadoop.hdfs.server.mover.Mover ;;

    'yarn app' | 'yarn application' | 'yarn applicationattempt' | 'yarn container') echo $yarn_cli.ApplicationCLI ;;
    'yarn node') echo $yarn_cli.NodeCLI ;;
    'yarn logs') echo $yarn_cli.LogsCLI ;;
    'yarn queue') echo $yarn_cli.QueueCLI ;;
    'yarn rmadmin') echo $yarn_cli.RMAdminCLI ;;
    'yarn top') echo $yarn_cli.TopCLI ;;
    'yarn cluster') echo $yarn_cli.ClusterCLI ;;
    'yarn schedulerconf') echo $yarn_cli.SchedConfCLI ;;
    'yarn nodeattributes') echo $yarn_cli.NodeAttributesCLI ;;
    'yarn resourcemanager') echo org.apache.hadoop.yarn.server.resourcemanager.ResourceManager ;;
    'yarn nodemanager') echo org.apache.hadoop.yarn.server.nodemanager.NodeManager ;;

    'mapred job') echo org.apache.hadoop.mapred.JobClient ;;
    'mapred queue') echo org.apache.hadoop.mapred.JobQueueClient ;;
    'mapred pipes') echo org.apache.hadoop.mapred.pipes.Submitter ;;
    'mapred hsadmin') echo org.apache.hadoop.mapreduce.v2.hs.client.HSAdmin ;;
    'mapred historyserver') echo org.apache.hadoop.mapreduce.v2.hs.JobHistoryServer ;;

    *' '*.*) echo "$1" ;;
  esac
}

usage() {
  case $name in
    hadoop)
      commands='jar FILE [CLASS], fs, classpath, version, checknative, conftest, credential, key, daemonlog, or a CLASS'
      ;;
    hdfs)
      commands='dfs, dfsadmin, fsck, getconf, groups, haadmin, storagepolicies, cacheadmin, crypto, ec, debug, oiv, '
      commands=$commands'oev, balancer, mover, namenode, datanode, ..'
      ;;
    yarn) commands='node, application, applicationattempt, container, logs, jar, queue, rmadmin, top, cluster, ..' ;;
    mapred) commands='job, queue, pipes, hsadmin, historyserver, ..' ;;
  esac
  echo "usage: $name [--config DIR] [--loglevel LEVEL] COMMAND [ARGUMENTS]"
  echo "  $commands"
}

if [ "$name" = in-cluster ]; then
  [ $# -gt 0 ] || fail 'usage: in-cluster COMMAND [ARGUMENTS]' 2
  enter "$@"
fi

# ---- the environment of Hadoop's scripts ----

while [ $# -gt 0 ]; do
  case $1 in
    --config)
      [ -d "${2-}" ] || fail "--config ${2-}: no such folder" 1
      HADOOP_CONF_DIR=$2
      shift 2
      ;;
    --loglevel)
      [ $# -gt 1 ] || fail '--loglevel needs a level, such as DEBUG' 1
      HADOOP_LOGLEVEL=$2
      shift 2
      ;;
    --debug) shift ;;
    --help | -help | -h)
      usage
      exit 0
      ;;
    *) break ;;
  esac
done
if [ $# -eq 0 ]; then
  usage >&2
  exit 1
fi
command=$1
class=$(class_of "$command")
[ -n "$class" ] || fail "$command is neither a command nor the full name of a class ($name --help)" 1
case "$name $command" in
  # ApplicationCLI takes the sub-command as its first argument.
  'yarn app' | 'yarn application' | 'yarn applicationattempt' | 'yarn container') ;;
  *) shift ;;
esac

export HADOOP_CONF_DIR="${HADOOP_CONF_DIR:-$cluster/conf}"
export HADOOP_HOME="${HADOOP_HOME:-$cluster}"
export JAVA_HOME="${JAVA_HOME:-$java_home}"
export MALLOC_ARENA_MAX="${MALLOC_ARENA_MAX:-4}"
CLASSPATH=$HADOOP_CONF_DIR:$class_path
if [ -n "${HADOOP_CLASSPATH-}" ]; then
  if [ -n "${HADOOP_USER_CLASSPATH_FIRST-}" ]; then
    CLASSPATH=$HADOOP_CLASSPATH:$CLASSPATH
  else
    CLASSPATH=$CLASSPATH:$HADOOP_CLASSPATH
  fi
fi
export CLASSPATH

if [ "$command" = classpath ] && [ $# -eq 0 ]; then
  echo "$CLASSPATH"
  exit 0
fi

heap=${HADOOP_HEAPSIZE_MAX-}
case $heap in
  '') ;;
  *[!0-9]*) heap=-Xmx$heap ;;
  *) heap=-Xmx${heap}m ;;
esac
options="${HADOOP_OPTS-} $heap ${HADOOP_CLIENT_OPTS-}"
# Java 8 has no modules.
[ ! -e "$JAVA_HOME/lib/modules" ] || options="--add-opens=java.base/java.lang=ALL-UNNAMED $options"
[ -z "${JAVA_LIBRARY_PATH-}" ] || options="-Djava.library.path=$JAVA_LIBRARY_PATH $options"
case $command in
  # These run long, or run a user's program.
  jar | *.* | pipes | balancer | mover | namenode | datanode | resourcemanager | nodemanager | historyserver) ;;
  # The others would spend half of their time in the optimising compiler.
  *) options="-XX:TieredStopAtLevel=1 $options" ;;
esac
# Options are split at blanks, as in the stock scripts.
# shellcheck disable=SC2086
set -- "$JAVA_HOME/bin/java" "-Dproc_$command" -Djava.net.preferIPv4Stack=true "-Dhadoop.log.dir=$cluster/logs" \
  "-Dhadoop.root.logger=${HADOOP_ROOT_LOGGER:-${HADOOP_LOGLEVEL:-INFO},console}" \
  $options "$class" "$@"
case $command in
  # These need no cluster.
  classpath | version | checknative | conftest) exec "$@" ;;
esac
enter "$@"
