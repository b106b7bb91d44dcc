# Starts the JVMs of a job's containers from archives of their classes (docs/decisions/warm-containers.md).
#
#   warm.sh options KIND         print the options for the JVM of a map, a reduce or the application master (am);
#                                print none if the archive is not of this Java, this class path or these jars
#   warm.sh record KIND FOLDER   print words that turn the rest of a container's command into `warm.sh run`
#   warm.sh run KIND FOLDER ..   run Java with these arguments, make the archive at its end, and copy it to FOLDER
#
# It runs in a container's directory, and needs sh, sed, cat and stat. NAME is the link of the archives there.
name=yunti-warm
arguments=.yunti-warm.arguments
export LC_ALL=C

# Sets `own`, the part of the class path that is the cluster's, and `rest`, the job's. Fails if the job's comes first.
split() {
  all=${CLASSPATH#"$PWD:"}
  case $all in job.jar/*) return 1 ;; esac
  own=${all%%:job.jar/*}
  rest=${all#"$own:"}
  [ "$all" != "$CLASSPATH" ] && [ "$own" != "$all" ]
}

# Prints the cluster's directories, and its jars with sizes and times, in the order of the class path.
entries() {
  seen=:
  separators=$IFS
  IFS=:
  set -f
  # shellcheck disable=SC2086  # A list.
  set -- $own
  set +f
  IFS=$separators
  count=$#
  for entry; do
    # A framework that travels with the job lies in the container: its path there is the same in each.
    entry=${entry#"$PWD/"}
    case $seen in *":$entry:"*) continue ;; esac
    seen=$seen$entry:
    case $entry in
      */\*) for jar in "${entry%\*}"*.[jJ][aA][rR]; do [ ! -f "$jar" ] || set -- "$@" "$jar"; done ;;
      *) [ ! -e "$entry" ] || set -- "$@" "$entry" ;;
    esac
  done
  shift "$count"
  # The time of a directory says nothing about its content.
  stat -L -c '%F %n %s %Y' -- "$@" | sed 's/^directory \(.*\) [0-9]* [0-9]*$/directory \1/; s/^regular[a-z ]* file /jar /'
}

# Prints the major version of Java.
java_version() {
  sed -n 's/^JAVA_VERSION="\([0-9]*\).*/\1/p' "$JAVA_HOME/release" 2> /dev/null
}

# Writes the class path where Java's launcher reads it. Directories are jars that point to them (Recording.java).
write_arguments() {
  printf -- '-cp\n"%s"\n' "$(cat $name/class-path)${rest:+:$rest}" > $arguments
}

case $1 in
  options)
    [ -f "$name/$2.jsa" ] || exit 0
    split || exit 0
    [ "$(cat "$JAVA_HOME/release")" = "$(cat $name/java)" ] && [ "$(entries)" = "$(cat $name/entries)" ] || exit 0
    write_arguments || exit 0
    # A JVM that cannot use the archive starts without it, and prints nothing.
    if [ "$(java_version)" -lt 25 ]; then
      archive="-XX:SharedArchiveFile=$name/$2.jsa -Xlog:cds=off -Xlog:cds+dynamic=off"
    else
      archive="-XX:AOTCache=$name/$2.jsa -Xlog:cds=off -Xlog:aot=off"
    fi
    echo "@$arguments $archive -Dyunti.hadoop.library=$name/libyunti_hadoop.so"
    ;;
  record)
    echo "-version > /dev/null 2>&1 ; exec sh $0 run $2 $3"
    ;;
  run)
    kind=$2
    folder=$3
    shift 3
    java=$JAVA_HOME/bin/java
    version=$(java_version)
    if ! split; then
      echo "the job's classes come first: set mapreduce.job.user.classpath.first to false" > $name.failed
    elif [ "${version:-0}" -lt 13 ]; then
      echo "Java ${version:-without a file release} in $JAVA_HOME makes no archives: 13 or newer does" > $name.failed
    else
      mkdir $name
      cat "$JAVA_HOME/release" > $name/java
      entries > $name/entries
      "$java" -cp "$CLASSPATH" org.yunti.hadoop.warm.Recording prepare $name job.jar 2> $name.failed && rm $name.failed
    fi
    if [ -f $name.failed ]; then
      "$java" "$@"
    else
      # The job's own part of the class path has directories. The recorded job needs none of it.
      rest=
      write_arguments
      # The options of an application master that stand before these words.
      [ "$kind" != am ] || set -- "-Djava.io.tmpdir=$PWD/tmp" -Dlog4j.configuration=container-log4j.properties \
        "-Dyarn.app.container.log.dir=${LOG_DIRS%%,*}" -Dyarn.app.container.log.filesize=0 \
        -Dhadoop.root.logger=INFO,CLA -Dhadoop.root.logfile=syslog "$@"
      make=ArchiveClassesAtExit
      [ "$version" -lt 25 ] || make=AOTCacheOutput
      "$java" @$arguments -XX:$make=$name/$kind.jsa "$@"
    fi
    code=$?
    "$java" -cp "$CLASSPATH" org.yunti.hadoop.warm.Recording keep "$kind" "$folder"
    exit $code
    ;;
esac
