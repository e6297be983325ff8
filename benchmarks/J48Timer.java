import java.io.BufferedReader;
import java.io.FileReader;
import weka.classifiers.trees.J48;
import weka.core.Instances;

/** Prints the seconds of J48.buildClassifier on an ARFF file: warm-up rounds first, then one line per round. */
public class J48Timer {
  public static void main(String[] arguments) throws Exception {
    Instances data = new Instances(new BufferedReader(new FileReader(arguments[0])));
    data.setClassIndex(data.numAttributes() - 1);
    int warmUp = Integer.parseInt(arguments[1]);
    int rounds = Integer.parseInt(arguments[2]);
    for (int i = 0; i < warmUp + rounds; i++) {
      J48 tree = new J48();
      long start = System.nanoTime();
      tree.buildClassifier(data);
      double seconds = (System.nanoTime() - start) / 1e9;
      if (i >= warmUp) {
        System.out.println(seconds + " " + (int) tree.measureTreeSize());
      }
    }
  }
}
